import ReactMarkdown, { type Options } from "react-markdown";

interface Props {
  text: string;
  plugins?: Options["remarkPlugins"];
  /** The address of a picture, by what is written; null: its words are shown in its place. */
  picture?: (source: string) => string | null;
}

/** Markdown that somebody wrote. HTML in it is shown as text, and links open beside the page. */
export function Markdown({ text, plugins, picture }: Props) {
  return (
    <ReactMarkdown
      remarkPlugins={plugins}
      components={{
        a: ({ href, children }) => (
          <a href={href} target="_blank" rel="noreferrer noopener">
            {children}
          </a>
        ),
        img: ({ src, alt }) => {
          const address = typeof src === "string" ? picture?.(src) : null;
          return address ? <img src={address} alt={alt ?? ""} /> : <em>{alt}</em>;
        },
      }}
    >
      {text}
    </ReactMarkdown>
  );
}
