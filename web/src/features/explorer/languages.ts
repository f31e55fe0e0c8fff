import { StreamLanguage } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { extensionOf } from "./paths";

/** The syntax highlighting for a file name; downloaded on first use. */
export async function languageOf(name: string): Promise<Extension> {
  switch (extensionOf(name)) {
    case "py":
      return (await import("@codemirror/lang-python")).python();
    case "js":
    case "jsx":
    case "ts":
    case "tsx": {
      const { javascript } = await import("@codemirror/lang-javascript");
      return javascript({ jsx: /x$/.test(name), typescript: /\.tsx?$/.test(name) });
    }
    case "json":
    case "ipynb":
      return (await import("@codemirror/lang-json")).json();
    case "md":
    case "markdown":
      return (await import("@codemirror/lang-markdown")).markdown();
    case "yaml":
    case "yml":
      return (await import("@codemirror/lang-yaml")).yaml();
    case "sh":
    case "bash":
    case "env":
      return StreamLanguage.define((await import("@codemirror/legacy-modes/mode/shell")).shell);
    case "toml":
      return StreamLanguage.define((await import("@codemirror/legacy-modes/mode/toml")).toml);
    case "ini":
    case "cfg":
    case "conf":
    case "properties":
      return StreamLanguage.define((await import("@codemirror/legacy-modes/mode/properties")).properties);
    case "r":
      return StreamLanguage.define((await import("@codemirror/legacy-modes/mode/r")).r);
    case "jl":
      return StreamLanguage.define((await import("@codemirror/legacy-modes/mode/julia")).julia);
    default:
      return name === "Dockerfile"
        ? StreamLanguage.define((await import("@codemirror/legacy-modes/mode/dockerfile")).dockerFile)
        : [];
  }
}
