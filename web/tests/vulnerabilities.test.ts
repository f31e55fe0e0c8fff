import { expect, test } from "vitest";
import type { Vulnerability } from "@/api/types";
import { scoresOf } from "@/features/environments/severities";

const ROW: Vulnerability = {
  id: "CVE-2026-0001",
  severity: "high",
  package: "tar",
  version: "1",
  fixed: "2",
  title: "",
  link: "",
  since: "2026-11-27",
  cvss_score: 9,
  cvss_vector: "CVSS:3.1/AV:N",
  epss: 0.4237,
};

test("scores are shown as far as the scanner tells them", () => {
  expect(scoresOf(ROW, "en")).toEqual(["CVSS 9.0", "EPSS 42.4%", "CVSS:3.1/AV:N"]);
  expect(scoresOf({ ...ROW, epss: 0, cvss_score: null, cvss_vector: "" }, "en")).toEqual(["EPSS 0%"]);
  expect(scoresOf({ ...ROW, epss: null, cvss_score: null, cvss_vector: "" }, "en")).toEqual([]);
});
