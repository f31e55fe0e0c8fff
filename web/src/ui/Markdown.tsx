import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import ReactMarkdown, { type Components, type ExtraProps, type Options } from "react-markdown";

interface Props {
  text: string;
  plugins?: Options["remarkPlugins"];
  /** Maps an image source to a URL; null shows its alt text instead. */
  picture?: (source: string) => string | null;
  /** Renders a link without a scheme, which leads to another text or a heading. */
  link?: (href: string, children: ReactNode) => ReactNode;
  /** The id of a heading with this text; absent: headings have none. */
  headingId?: (text: string) => string;
}

/** Markdown. HTML is shown as text, and links to other sites open in a new tab. */
export function Markdown({ text, plugins, picture, link, headingId }: Props) {
  const { t } = useLingui();
  return (
    <ReactMarkdown
      remarkPlugins={plugins}
      components={{
        a: ({ href = "", children }) =>
          link && !/^[a-z][a-z0-9+.-]*:/i.test(href) ? (
            link(href, children)
          ) : (
            <a href={href} target="_blank" rel="noreferrer noopener">
              {children}
            </a>
          ),
        img: ({ src, alt }) => {
          const address = typeof src === "string" ? picture?.(src) : null;
          return address ? <img src={address} alt={alt ?? ""} /> : <em>{alt}</em>;
        },
        // The checkbox of an item of a task list.
        input: ({ checked }) => (
          <input
            type="checkbox"
            disabled
            checked={checked}
            aria-label={checked ? t`Completed task` : t`Incomplete task`}
          />
        ),
        // Wider than the window, they scroll by the arrow keys.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        table: ({ children }) => <table tabIndex={0}>{children}</table>,
        ...(headingId && headings(headingId)),
      }}
    >
      {text}
    </ReactMarkdown>
  );
}

type Element = NonNullable<ExtraProps["node"]>;

function headings(headingId: (text: string) => string): Components {
  return {
    h1: ({ node, children }) => <h1 id={headingId(textOf(node))}>{children}</h1>,
    h2: ({ node, children }) => <h2 id={headingId(textOf(node))}>{children}</h2>,
    h3: ({ node, children }) => <h3 id={headingId(textOf(node))}>{children}</h3>,
  };
}

function textOf(node: Element | Element["children"][number] | undefined): string {
  if (!node) return "";
  if ("value" in node) return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}
