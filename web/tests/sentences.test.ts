import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { i18n, type MessageDescriptor } from "@lingui/core";
import { describe, expect, test } from "vitest";
import { CHECK_NOTES, checkNoteIn } from "@/features/resources/engine-words";
import { messages as korean } from "@/i18n/locales/ko.po";
import { CAUSES } from "@/sentences/causes";
import { layerStep } from "@/sentences/layer-steps";
import { PROBLEMS, UNTRANSLATED } from "@/sentences/problems";
import { PHASES } from "@/sentences/progress";
import { reasonIn } from "@/sentences/reasons";

const SERVER = "../src/carrel";
const source = readdirSync(SERVER, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".py"))
  .map((file) => readFileSync(join(SERVER, file), "utf8"))
  .join("\n");
const reference = readFileSync("../docs/reference/errors.md", "utf8");

const all = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map((found) => found[1] ?? "")),
];
const documented = (title: string): string[] =>
  all(reference.split(`## ${title}`)[1]?.split("\n## ")[0] ?? "", /^\| `([a-z_.]+)`/gm);

const KINDS =
  "NotFound|Conflict|Forbidden|Unauthorized|Invalid|Refused|Unavailable|CarrelError|TooManyAttempts|Broken";
const raised = all(source, new RegExp(`\\b(?:${KINDS})\\(\\s*"([a-z_.]+)"`, "g"));
const say = (message: MessageDescriptor) => i18n._(message);
i18n.loadAndActivate({ locale: "en", messages: {} });

describe("the notes of an engine's check", () => {
  test.each(Object.keys(CHECK_NOTES))("%s is still the server's", (sentence) => {
    for (const part of sentence.split(/ (?=connect to apps through)/)) expect(source).toContain(part);
  });

  test("say what is not refused", () => {
    const note = "It does not enforce network policies: not refused are other pods, nodes.";
    expect(source).toContain("It does not enforce network policies: not refused are {");
    expect(checkNoteIn(say, note)).toBe(note);
    expect(checkNoteIn(say, "It sings.")).toBeNull();
  });
});

describe("every code of the server", () => {
  const codes = [...new Set([...raised, ...documented("Of the API")])];

  test("is found", () => {
    expect(raised).toContain("session.name_taken");
    expect(codes.length).toBeGreaterThan(40);
  });

  test.each(codes)("%s has a sentence in other languages, or is left out on purpose", (code) => {
    const left = UNTRANSLATED.some((one) => (typeof one === "string" ? one === code : one.test(code)));
    expect(code in PROBLEMS !== left, code).toBe(true);
  });

  test.each(Object.keys(PROBLEMS))("%s is still one of the server's", (code) => {
    expect(codes).toContain(code);
  });
});

test.each([...all(source, /\bcause="([a-z_]+)"/g), ...documented("In a session's history")])(
  "the cause %s in a history has words",
  (cause) => expect(CAUSES).toHaveProperty(cause),
);

describe("the step of an app layer", () => {
  test.each([
    ["trying it out in the cluster", "trying it out in the cluster"],
    ["copying it to a volume", "copying it to a volume"],
    ["Mounted as an image volume.", "Mounted as an image volume."],
    ["Kept in {", "Kept in /var/lib/carrel on each node: image volumes do not work (No)."],
    [
      "Copied into each pod, which takes time and disk: {",
      "Copied into each pod, which takes time and disk: No.",
    ],
  ])("%s is still the server's and known", (written, step) => {
    expect(source).toContain(written);
    expect(layerStep((message) => `known: ${i18n._(message)}`, step)).toBe(`known: ${step}`);
  });

  test("that is an instruction of its build stays", () => {
    expect(layerStep(say, "RUN true")).toBe("RUN true");
  });
});

test.each(Object.keys(PHASES))("the phase %s is still one of the server's", (phase) => {
  expect(source.includes(`Progress("${phase}"`), phase).toBe(true);
});

describe("the reason of a state", () => {
  test.each([
    "No node has joined its resource group yet.",
    "Its resource group is not active.",
    "There is free capacity: it starts in the next scheduling cycle.",
    "No single node has all of these resources.",
    "Its node is lost.",
    "The engine did not confirm the removal in time; the container is removed when the engine responds.",
  ])("%s is still the server's and known", (sentence) => {
    expect(source.includes(`"${sentence}"`), sentence).toBe(true);
    expect(reasonIn(say, sentence)).toBe(sentence);
  });

  test.each([
    ['f"Ended by {actor.email}."', "Ended by a@b.c."],
    ["may have {_counted(limit.ceiling, 'session')} at once, and has {limit.used}.", ""],
    ["may use {most} at once and uses {used}; this needs {format_slot(", ""],
    ["may use {format_slot(slot, ceiling)} at most.", "Project vision may use 1 CPU at most."],
    ["but {what} is reserved for an earlier session that has waited too long.", ""],
    ['the {slot} that {self.snapshot.scopes[scope].label} may still use"', ""],
    ["No node has {needed}; the largest has {most}.", "No node has 9 CPU; the largest has 2 CPU."],
    [
      'f"A machine is being added; {took}. {message}"',
      "A machine is being added; how long that takes is not known yet. The cluster: 0/2 nodes are available.",
    ],
    [
      "that took {_written(waits[0])} the last time",
      "A machine is being added; that took 2.5 min the last time. No.",
    ],
    [
      "the median of the last {len(waits)} times is {",
      "A machine is being added; the median of the last 5 times is 2.5 min. The cluster: 0/2 nodes.",
    ],
    ['f"No machine was added within {_written(wait)}. {message}"', "No machine was added within 15 min. No."],
    [
      "The limit of its elastic group is reached: it ",
      "The limit of its elastic group is reached: it needs 1 CPU, 0.5 CPU free.",
    ],
    [
      "The limit of its elastic group is {most}; this needs {needed}.",
      "The limit of its elastic group is 4 CPU; this needs 5 CPU.",
    ],
    ["Its elastic group takes no sessions now: ", "Its elastic group takes no sessions now: not ready."],
    ['"Its array runs at most {} at a time."', "Its array runs at most 8 at a time."],
    ["It reached its time limit of {", "It reached its time limit of 1:00:00."],
    ['"It reaches its time limit of {} in {}."', "It reaches its time limit of 1:00:00 in 6 min."],
    ['"It looks idle: it ends in {} unless it is used or marked as in use."', ""],
    ['f"Idle: no traffic for {', "Idle: no traffic for 1 h."],
    ['f"Idle: low utilization for {', "Idle: low utilization for 1 h (CPU below 5 %)."],
    [
      "has written {format_size(self.used_bytes)} outside its folders, of {self._limit}.",
      "Its container sub1 has written 17 GiB outside its folders, of 20 GiB. Delete files or move them to a folder.",
    ],
    [
      "wrote {format_size(self.used_bytes)} outside its folders; the limit is {self._limit}.",
      "It wrote 23.4 GiB outside its folders; the limit is 20 GiB.",
    ],
    [
      "The disk of its node is nearly full (",
      "The disk of its node is nearly full (1 GiB free), and of all sessions there it had written the most outside its folders: 9 GiB.",
    ],
    ['f"It has {changed} now."', "It has 3 CPU, 2 GiB now."],
    ['f"Its CPU and memory were not changed: {reason}"', "Its CPU and memory were not changed: No."],
    ['f"Kept by {actor.email}."', "Kept by a@b.c."],
    ['"It was pending for {}, the limit of its resource group."', ""],
    [' is draining."', "Its node node-1 is draining."],
    ['f"{subject} evicted from {', "Its container was evicted from gpu-1 (cordoned in the cluster)."],
    ['" It is requeued and restarts on another node, without the files outside mounted folders."', ""],
    [
      'f"Its node {place.name} is {place.closed}. Files outside mounted folders are lost with it."',
      "Its node gpu-1 is about to be taken away (karpenter.sh/disrupted). Files outside mounted folders are lost with it.",
    ],
    [' disappeared from the engine."', "Its container disappeared from the engine."],
    ['return "Its container"', ""],
    [
      '"The cluster does not place it: {}."',
      "The cluster does not place it: 0/2 nodes are available: 2 Insufficient cpu.",
    ],
    ["autoscaler is adding a machine for it.", "The cluster's autoscaler is adding a machine for it."],
    ["autoscaler adds no machine for it: {}.", "The cluster's autoscaler adds no machine for it: no."],
    ['"Its node cannot mount a volume: {}."', "Its node cannot mount a volume: timed out."],
    ['"A volume cannot be attached to its node: {}."', "A volume cannot be attached to its node: no."],
    ['"Its node cannot set up its network: {}."', "Its node cannot set up its network: no."],
    ['"The network of its node is not ready: {}."', "The network of its node is not ready: no."],
    ['"Its node cannot start it: {}."', "Its node cannot start it: no."],
    ['"Its node waits before the next attempt: {}."', "Its node waits before the next attempt: back-off."],
    ['"Its node is not ready in the cluster."', "Its node is not ready in the cluster."],
    ['"It was evicted from its node: {}."', "It was evicted from its node: Eviction API: evicting."],
    ["because its node was low on memory: {}.", "It was evicted because its node was low on memory: 1 Mi."],
    [
      "because its node was low on disk space: {}.",
      "It was evicted because its node was low on disk space: the node was low; it used 1 Gi. It was started again; files outside mounted folders are lost, as are processes.",
    ],
    ['"It was evicted because it wrote too much: {}."', "It was evicted because it wrote too much: 2 Gi."],
    [
      "to make room for a pod of higher priority: {}.",
      "The cluster ended it to make room for a pod of higher priority: preempted.",
    ],
    ['"The cluster reports {}: {}."', "The cluster reports FailedKillPod: error killing pod."],
    ['"The cluster ended it ({}): {}."', "The cluster ended it (NodeShutdown): shutdown."],
    [
      "is exhausted: {requested} requested, {used} used, {limited} at most.",
      "The quota lab of the namespace is exhausted: pods=1 requested, pods=4 used, pods=4 at most.",
    ],
    ["of the cluster refuses it{why}.", "The admission webhook a.b of the cluster refuses it: no."],
    ["of the cluster refuses it{why}.", "The admission webhook a.b of the cluster refuses it."],
    ["Pod Security of the cluster refuses it: {", "Pod Security of the cluster refuses it: no."],
    ["in its registry ({registry}).", "There is no image named a:1 in its registry (docker.io)."],
    [
      "or does not let this installation pull it.",
      "The registry b.c has no image named b.c/a, or does not let this installation pull it.",
    ],
    ["refuses more pulls for now", "The registry docker.io refuses more pulls for now (rate limit)."],
    ["The disk is full: the image {image} does not fit.", "The disk is full: the image a:1 does not fit."],
    [
      "No registry answered for the image {image}: this machine cannot reach {registry}. ",
      "No registry answered for the image a:1: this machine cannot reach b.c. Check the name, or load the image into the engine by hand.",
    ],
    ["could not be pulled: {text.rstrip('.')}.", "The image a:1 could not be pulled: no."],
    [
      "stopped, for example with the engine.",
      "Its container stopped, for example with the engine. It was started again; files are kept, processes are not.",
    ],
    [
      " times already.",
      "Its container disappeared from the engine. It has been started again 5 times already.",
    ],
    [
      'f"The engine cannot reach the storage host {storage.name}."',
      "The engine cannot reach the storage host fast.",
    ],
    [
      "which is to be mounted, is not on the node.",
      "The directory /srv/a, which is to be mounted, is not on the node.",
    ],
    [
      "which is to be mounted, is not in the volume.",
      "The directory /a or /b, which is to be mounted, is not in the volume.",
    ],
    [
      'f"A folder cannot be mounted on the node: {',
      "A folder cannot be mounted on the node: no route to host.",
    ],
  ])("%s is still the server's", (words, example) => {
    expect(source.includes(words), words).toBe(true);
    if (example) expect(reasonIn(say, example)?.toLowerCase()).toBe(example.toLowerCase());
  });

  test.each([
    ["Project vision may have 1 session at once, and has 1.", "project vision may have 1 session at once"],
    ["Project vision may have 2 sessions at once, and has 2.", "project vision may have 2 sessions at once"],
    [
      "A@b.c, without a keypair, may use 1 CPU at once and uses 0.5 CPU; this needs 1 CPU.",
      "A@b.c, without a keypair may use 1 CPU",
    ],
    [
      "There is free capacity, but the cpu that project vision may still use is reserved for an earlier session that has waited too long.",
      "the cpu that project vision may still use",
    ],
    [
      "There is free capacity, but node-1, node-2 is reserved for an earlier session that has waited too long.",
      "node-1, node-2 is reserved",
    ],
    ["It was pending for 0:10:00, the limit of its resource group.", "It was pending for 0:10:00"],
  ])("%s is known with what it names", (sentence, said) => {
    expect(reasonIn(say, sentence)).toContain(said);
  });

  test("that counts nodes is known, all parts of it", () => {
    for (const part of [
      '"not ready"',
      '"cordoned"',
      '"is not the requested node"',
      '"does not enforce network policies"',
      'f"does not have the capability {',
      'f"does not have the runtime {',
      'f"has no user namespaces with the runtime {',
      'f"is {node.architecture}, the image needs {',
      'f"supports CUDA {',
      'f"driver {',
      ', the image needs {needed}"',
      '"does not enforce shares"',
      'f"enforces shares by {',
      ", its resource group requires {",
      '"has capacity for one container, not for all"',
      '"has capacity for some containers, but not for all"',
      '" on nodes that reach each other"',
      'f" within one {',
      'f"has no label {',
      'f"has capacity, but not for all {',
      'f"needs {format_slot(slot, requested)}, {free}"',
      'f"cannot reach the storage host {',
      'f"does not have the environment {',
      '"; ".join(',
    ]) {
      expect(source.includes(part), part).toBe(true);
    }
    const said = reasonIn(
      say,
      "1 node: not ready; 2 nodes: needs 3 CPU, at most 0.5 CPU free; 3 nodes: cannot reach the storage host fast.",
    );
    expect(said).toBe(
      "1 node: not ready. 2 nodes: needs 3 CPU, at most 0.5 CPU free. 3 nodes: cannot reach the storage host fast.",
    );
    expect(reasonIn(say, "1 node: not ready; something new.")).toBeNull();
    const driver = "1 node: driver 470.82.01 supports CUDA 11.4, the image needs CUDA 12.4.";
    expect(reasonIn(say, driver)).toBe(driver);
    const label = "1 node: supports CUDA 11.4, the image needs driver>=525,driver<526.";
    expect(reasonIn(say, label)).toBe(label);
  });

  test("has the durations and measures in the language of the page", () => {
    i18n.loadAndActivate({ locale: "ko", messages: korean });
    expect(reasonIn(say, "Idle: low utilization for 1.5 h (CPU 0.3 %, below 5 %, memory below 10 %).")).toBe(
      "유휴: 1.5시간 동안 사용률이 낮았습니다(CPU 0.3%, 기준 5%, 메모리 10% 미만).",
    );
    i18n.activate("en");
  });

  test("that nobody foresaw is left to the server", () => {
    expect(reasonIn(say, "The moon was in the way.")).toBeNull();
  });
});
