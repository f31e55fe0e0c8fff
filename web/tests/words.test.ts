import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { formatPercent, formatTime } from "@/ui/format";

const catalog = readFileSync("src/i18n/locales/en.po", "utf8");
const texts = [...catalog.matchAll(/^msgid "(.+)"$/gm)].map(([, text]) => text ?? "");

/** What others name so. */
const NAMED_BY_OTHERS = [
  "Accept a sign-in without auth_time as recent",
  "An access token with read_api and read_registry. A deploy token cannot list repositories.",
  "An access token with read_api, read_registry and write_registry. A deploy token cannot list repositories.",
];

describe("the page's texts", () => {
  test.each(texts.filter((text) => /[a-z]_[a-z]/.test(text.replace(/\{[^}]*\}|<\d>|~\/\S+/g, ""))))(
    "%s has no raw identifier",
    (text) => expect(NAMED_BY_OTHERS).toContain(text),
  );

  test.each([
    "Available to you",
    "Bulk create",
    "Two-factor authentication",
    "Password history",
    "Starvation limit",
    "Reserved",
    "Transfer ownership…",
    "Idle by utilization",
    "Pending",
    "Limits",
  ])("%s is one of the terms", (term) => expect(texts).toContain(term));

  test.each(["Free resources", "Available to me", "Second factor", "Backfill patience", "Create several"])(
    "%s is not, as it has another name",
    (term) => expect(texts).not.toContain(term),
  );
});

describe("a catalogue", () => {
  test.each(["en", "ko", "ja"])("%s has no remains of a merge", (language) => {
    const entries = readFileSync(`src/i18n/locales/${language}.po`, "utf8");
    expect(entries.match(/^.*(<{7}|={7}|>{7}).*$/gm)).toBeNull();
  });

  test("the source language's texts are those of the code", () => {
    const entries = [...catalog.matchAll(/^msgid "(.+)"\nmsgstr "(.*)"$/gm)];
    expect(entries.filter(([, id, text]) => id !== text)).toEqual([]);
  });
});

describe("a Japanese text", () => {
  const japanese = [...readFileSync("src/i18n/locales/ja.po", "utf8").matchAll(/^(?:msgstr )?"(.*)"$/gm)];
  const letter = "[ぁ-ゟァ-ヺー-ヿ一-鿿]";
  const mixed = new RegExp(`[（）：]|${letter}[A-Za-z0-9#(]|[A-Za-z0-9#)]${letter}`);

  test.each(japanese.map(([, text]) => text ?? "").filter((text) => mixed.test(text)))(
    "%s has ASCII brackets, and spaces around them and around words in Latin letters",
    (text) => expect(text).toBe(""),
  );

  test("is there", () => expect(japanese.length).toBeGreaterThan(1000));
});

describe("one word for one thing, and one polite form", () => {
  test.each([
    ["ko", /자원|멤버|추적|실행 양식|변경 사항|상세 정보|비밀 키|일정을|필터와 일치|[^ ]님이|[}\d] %|십시오/],
    [
      "ja",
      /コンテナー|監査証跡|時間制限|アイドル検査|起動フォーム|ブラウザ(?!ー)|移転|SSH 鍵|フィルターに合|[}\d] %/,
    ],
    ["ja", /[^まで](する|見る|開く|取り消す|した)。/],
  ])("%s: no %s", (language, others) => {
    const texts = [...readFileSync(`src/i18n/locales/${language}.po`, "utf8").matchAll(/^msgstr "(.*)"$/gm)];
    expect(texts.map(([, text]) => text).filter((text) => text?.match(others))).toEqual([]);
  });
});

test("times of day and parts are written for the language", () => {
  expect(formatPercent(0.125, "en")).toBe("12.5%");
  expect(formatTime("2026-01-31T14:05:00", "ko")).toContain("2:05");
});
