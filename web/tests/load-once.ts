/** Stands for `routing/load-again`: of several imports at once, only one would be given the modules that a test mocks. */
let loaded: Promise<unknown> | undefined;

export function loadAgain(load: () => Promise<unknown>) {
  loaded ??= load();
  return loaded;
}
