import { expect, test } from "vitest";
import { releaseOf } from "@/shell/release";

test("a release has a number, in a checkout also the revision of the code", () => {
  expect(releaseOf("0.5.0")).toEqual({ number: "0.5.0", revision: null });
  expect(releaseOf("0.5.0+g687ec2b")).toEqual({ number: "0.5.0", revision: "687ec2b" });
  expect(releaseOf("0.6.0rc1+g687ec2b")).toEqual({ number: "0.6.0rc1", revision: "687ec2b" });
});
