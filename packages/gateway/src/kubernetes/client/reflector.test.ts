import { describe, expect, test, vi } from "vitest";
import { GONE, KubeError, type KubeApi, type KubeObject, type List, type WatchEvent } from "./api.ts";
import { reflect } from "./reflector.ts";

const object = (name: string, resourceVersion: string): KubeObject => ({ metadata: { name, resourceVersion } });

/** Returns an API that answers lists and watches from a script; after the script, a watch remains silent. */
function scripted(lists: List[], watches: (readonly WatchEvent[] | Error)[]) {
  const calls: string[] = [];
  const api = {
    list: () => {
      calls.push("list");
      return Promise.resolve(lists.shift() ?? { items: [], resourceVersion: "0" });
    },
    watch: async (_query: unknown, version: string, on: (event: WatchEvent) => void, signal: AbortSignal) => {
      calls.push(`watch ${version}`);
      const next = watches.shift();
      if (next instanceof Error) throw next;
      if (!next) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      next?.forEach(on);
    },
  };
  return { calls, api: api as unknown as KubeApi };
}

async function run(script: ReturnType<typeof scripted>, expected: readonly string[]) {
  const stop = new AbortController();
  const state = new Map<string, string | undefined>();
  const errors: unknown[] = [];
  const done = reflect({
    api: script.api,
    query: { path: "/x" },
    signal: stop.signal,
    firstPauseMs: 1,
    onChange: (name, one) => (one ? state.set(name, one.metadata.resourceVersion) : state.delete(name)),
    onSynced: () => {},
    onError: (error) => errors.push(error),
  });
  await vi.waitFor(() => expect(script.calls).toEqual(expected));
  stop.abort();
  await done;
  return { state: Object.fromEntries(state), errors };
}

describe("following a list", () => {
  test("watches from the version of the list, and from the last event after the server ends the watch", async () => {
    const script = scripted(
      [{ items: [object("a", "5")], resourceVersion: "10" }],
      [
        [
          { type: "ADDED", object: object("b", "11") },
          { type: "BOOKMARK", object: object("", "20") },
        ],
        [],
      ],
    );
    const { state } = await run(script, ["list", "watch 10", "watch 20", "watch 20"]);
    expect(state).toEqual({ a: "5", b: "11" });
  });

  test("reads the list again after 410, and finds what vanished in between", async () => {
    const script = scripted(
      [
        { items: [object("a", "1"), object("b", "2")], resourceVersion: "2" },
        { items: [object("b", "7"), object("c", "8")], resourceVersion: "9" },
      ],
      [new KubeError(GONE, "too old resource version")],
    );
    const { state, errors } = await run(script, ["list", "watch 2", "list", "watch 9"]);
    expect(state).toEqual({ b: "7", c: "8" });
    expect(errors).toEqual([]);
  });

  test("continues from the last version after a broken connection", async () => {
    const script = scripted([{ items: [], resourceVersion: "3" }], [new Error("socket closed")]);
    const { errors } = await run(script, ["list", "watch 3", "watch 3"]);
    expect(errors).toHaveLength(1);
  });
});
