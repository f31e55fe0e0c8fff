// Fails when a string on the page is missing from the catalogues, is in them for nothing, or is not translated.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = "src/i18n/locales";
const before = mkdtempSync(join(tmpdir(), "catalogs-"));
const read = (from) =>
  Object.fromEntries(readdirSync(from).map((file) => [file, readFileSync(join(from, file), "utf8")]));

/** The messages of a catalogue without a translation. */
function untranslated(text) {
  return text
    .split(/\n\n/)
    .slice(1)
    .filter((entry) => /^msgstr ""$/m.test(entry) && !/^msgstr ""\n"/m.test(entry))
    .map((entry) => /^msgid (.*)$/m.exec(entry)?.[1]);
}

/** What matters of a catalogue: its dates and its order do not. */
const essence = (text) => text.replace(/^"(POT-Creation-Date|PO-Revision-Date):.*\n/gm, "");

const faults = [];
cpSync(folder, before, { recursive: true });
try {
  execFileSync("npx", ["--no-install", "lingui", "extract", "--clean"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [old, fresh] = [read(before), read(folder)];
  for (const [file, text] of Object.entries(fresh)) {
    if (essence(text) !== essence(old[file] ?? ""))
      faults.push(`${file} is not up to date; run: npm run extract`);
    if (file !== "en.po") faults.push(...untranslated(text).map((id) => `${file}: no translation of ${id}`));
  }
} finally {
  cpSync(before, folder, { recursive: true });
  rmSync(before, { recursive: true });
}
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
