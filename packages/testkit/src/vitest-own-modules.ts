// First setup file of projects whose files share the process of a worker (`isolate: false`). Packages of node_modules
// load once per worker; our own modules load again for each file, so that no file sees the state of another.
import { afterAll, expect, vi } from "vitest";

vi.resetModules();

/** Returns the state of the process that must be restored at the end of a file. */
function shared(): ReadonlyMap<string, unknown> {
  const variables = Object.entries(process.env).map(([name, value]) => [`variable ${name}`, value] as const);
  const listeners = process
    .eventNames()
    .map((name) => [`listeners of ${String(name)}`, process.listenerCount(name)] as const);
  return new Map<string, unknown>([
    ...variables,
    ...listeners,
    ["working directory", process.cwd()],
    ["fake timers", vi.isFakeTimers()],
  ]);
}

const before = shared();
afterAll(() => {
  const after = shared();
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key));
  expect(changed, "what this file changed in the process, and the next file sees").toEqual([]);
});
