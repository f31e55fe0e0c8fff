import ReactMarkdown, { type Options } from "react-markdown";

interface Props {
  text: string;
  plugins?: Options["remarkPlugins"];
  /** Maps an image source to a URL; null shows its alt text instead. */
  picture?: (source: string) => string | null;
}

/** User-written Markdown. HTML is shown as text, and links open in a new tab. */
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
