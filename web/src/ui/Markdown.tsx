import ReactMarkdown from "react-markdown";

interface Props {
  text: string;
}

/** Markdown that an administrator wrote. HTML in it is shown as text, and links open beside the page. */
export function Markdown({ text }: Props) {
  return (
    <ReactMarkdown
      components={{
        a: ({ href, children }) => (
          <a href={href} target="_blank" rel="noreferrer noopener">
            {children}
          </a>
        ),
      }}
    >
      {text}
    </ReactMarkdown>
  );
}
