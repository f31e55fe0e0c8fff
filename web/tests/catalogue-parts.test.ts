import { i18n } from "@lingui/core";
import { expect, test, vi } from "vitest";
import { activateLanguage, loadMoreMessages } from "@/i18n";
import { messages as all } from "@/i18n/locales/ko.po";
import { messages as first } from "@/i18n/locales/ko.po?first.po";
import { messages as rest } from "@/i18n/locales/ko.po?rest.po";
import { staticImports } from "../tools/catalogue-parts";

test("a catalogue is split in the messages of the first download and the rest", () => {
  expect({ ...first, ...rest }).toEqual(all);
  expect(Object.keys(first).filter((id) => id in rest)).toEqual([]);
  expect(Object.keys(first).length).toBeLessThan(Object.keys(rest).length);
});

test("a page that is loaded later is not in the first download", () => {
  const files = staticImports("src/main.tsx");
  expect(files).toContain("src/features/start/StartPage.tsx");
  expect(files).toContain("src/shell/Shell.tsx");
  expect(files).not.toContain("src/features/audit/AuditPage.tsx");
});

test("the rest of the messages is loaded once, and in each language from then on", async () => {
  const id = Object.keys(rest)[0] as string;
  vi.stubGlobal("document", { documentElement: {} });
  await activateLanguage("ko");
  expect(i18n.messages[id]).toBeUndefined();
  await loadMoreMessages();
  expect(i18n.messages[id]).toBeDefined();
  const changed = vi.fn();
  i18n.on("change", changed);
  await loadMoreMessages();
  expect(changed).not.toHaveBeenCalled();
  await activateLanguage("ja");
  expect(i18n.messages[id]).toBeDefined();
});
