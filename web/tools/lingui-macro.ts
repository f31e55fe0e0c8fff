import { transformAsync } from "@babel/core";
import macros from "@lingui/babel-plugin-lingui-macro";
import type { Plugin } from "vite";

/**
 * Expands Lingui's macros, and nothing else, with Babel.
 *
 * The rest of the pipeline compiles TypeScript and JSX natively, so Babel sees only the files that import a macro.
 */
export function linguiMacro(): Plugin {
  return {
    name: "carrel:lingui-macro",
    enforce: "pre",
    async transform(code, id) {
      const file = id.split("?")[0] ?? id;
      if (!/\.tsx?$/.test(file) || !/@lingui\/(core|react)\/macro/.test(code)) return null;
      const result = await transformAsync(code, {
        filename: file,
        babelrc: false,
        configFile: false,
        sourceMaps: true,
        parserOpts: { plugins: ["typescript", "jsx"] },
        plugins: [macros],
      });
      return result?.code ? { code: result.code, map: result.map } : null;
    },
  };
}
