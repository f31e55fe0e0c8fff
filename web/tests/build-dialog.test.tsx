// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BuildDialog } from "@/features/environments/BuildDialog";
import { type Asked, click, page, refused, serving, shows, showsNo, write } from "./dialogs";
import { until } from "./waiting";

const FETCH = "/environments/contexts/git";
const BUILD = "/environments/builds";
let asked: Asked[] = [];
let place: ReturnType<typeof page>;
/** While the server fetches. */
let fetching: Promise<void> = Promise.resolve();
let built: () => Response | object = () => ({ id: "e" });

beforeEach(async () => {
  let count = 0;
  asked = serving(async ({ path }) => {
    if (path === FETCH) {
      await fetching;
      count += 1;
      return { id: `c${count}`, files: 1, size_bytes: 1, source: "commit" };
    }
    return path === BUILD ? built() : undefined;
  });
  place = page();
  place.show(<BuildDialog opened onClose={() => {}} onBuilt={() => {}} />);
  await write("Name of the environment", "lab");
  await click("Git repository");
  await write("Address", "https://git.example.org/lab");
});

afterEach(() => {
  place.close();
  vi.unstubAllGlobals();
});

const of = (path: string) => asked.filter((one) => one.path === path);

async function build(): Promise<void> {
  const before = of(BUILD).length;
  await click("Build");
  await until(() => expect(of(BUILD)).toHaveLength(before + 1));
  await showsNo("The server fetches the repository.");
}

test("nothing is built once the dialog is closed while the server fetches", async () => {
  let end = () => {};
  fetching = new Promise((resolve) => {
    end = resolve;
  });
  await click("Build");
  await shows("The server fetches the repository.");
  await until(() => expect(of(FETCH)).toHaveLength(1));
  place.show(<BuildDialog opened={false} onClose={() => {}} onBuilt={() => {}} />);
  await until(() => expect(of(FETCH)[0]?.signal.aborted).toBe(true));
  end();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(of(BUILD)).toEqual([]);
});

test("another try takes what the server has fetched, until the source changes or is at fault", async () => {
  const contexts = () => of(BUILD).map(({ body }) => (body as { context: string }).context);
  built = () => refused(404, "image.not_found", "There is no image nope.", "base");
  await build();
  await write("Note", "again");
  await build();
  expect(contexts()).toEqual(["c1", "c1"]);
  await write("Branch, tag or commit", "v2");
  built = () => refused(422, "build.bad_recipe", "There is no recipe.", "files");
  await build();
  await build();
  expect(contexts()).toEqual(["c1", "c1", "c2", "c3"]);
});
