import { defineConfig } from "@lingui/conf";
import { formatter } from "@lingui/format-po";

export default defineConfig({
  sourceLocale: "en",
  locales: ["en", "ko", "ja"],
  catalogs: [{ path: "src/i18n/locales/{locale}", include: ["src"], exclude: ["src/api/generated"] }],
  fallbackLocales: { default: "en" },
  // Line numbers would change every catalogue with every edit.
  format: formatter({ origins: true, lineNumbers: false }),
  orderBy: "message",
});
