import { beforeAll, expect, test } from "vitest";
import { listHelpLines } from "./help.ts";
import { openCalls, press } from "./press.ts";
import { chosenAt, loaded, createInitialState, shownColumns, visibleItems, type Item, type State } from "./state.ts";
import { renderFrame } from "./view.ts";
import { loadWidths } from "../../print/width.ts";

beforeAll(loadWidths);

const lasting = { isReadOnly: false, columns: {} };
const channels = { name: "channels", aliases: ["ch"], titles: ["ID", "NAME"], numeric: [true, false] };
const logs = { name: "logs", aliases: [], titles: ["TIME"], numeric: [false] };
const resources = [channels, logs];

function item(id: number, name: string): Item {
  const cells = [String(id), name];
  return {
    key: String(id),
    label: `channel ${id}`,
    cells,
    values: [id, name],
    isOff: false,
    actions: ["disable", "test"],
    id: String(id),
  };
}

const three = loaded(
  createInitialState(channels, lasting),
  [item(10, "azure"), item(9, "openai"), item(2, "azure-old")],
  {
    isCut: false,
  },
);

/** The state after some keys, and the effect of the last one. */
function after(state: State, ...keys: string[]) {
  let step: ReturnType<typeof press> = { state };
  for (const key of keys) step = openCalls(step.state, key, resources) ?? press(step.state, key, resources, 10);
  return step;
}

const listVisibleKeys = (state: State) => visibleItems(state).map(({ key }) => key);

test("filters while it is typed and clears with escape", () => {
  const { state } = after(three, "/", "A", "z", "u", "q", "backspace");
  expect(listVisibleKeys(state)).toEqual(["10", "2"]);
  expect(listVisibleKeys(after(state, "enter").state)).toEqual(["10", "2"]);
  expect(listVisibleKeys(after(state, "enter", "escape").state)).toEqual(["10", "9", "2"]);
});

test("sorts numbers as numbers, reverses, and returns to the order of the gateway", () => {
  expect(listVisibleKeys(after(three, "s").state)).toEqual(["2", "9", "10"]);
  expect(listVisibleKeys(after(three, "s", "S").state)).toEqual(["10", "9", "2"]);
  expect(listVisibleKeys(after(three, "s", "s").state)).toEqual(["10", "2", "9"]);
  expect(listVisibleKeys(after(three, "s", "s", "s").state)).toEqual(["10", "9", "2"]);
});

test("keeps the chosen row when rows change around it", () => {
  const { state } = after(three, "down");
  const next = loaded(state, [item(11, "new"), item(10, "azure"), item(9, "openai")], { isCut: false });
  expect(chosenAt(next)).toBe(2);
  expect(chosenAt(loaded(next, [item(1, "only")], { isCut: false }))).toBe(0);
});

test("asks before it disables, and a test runs at once", () => {
  expect(after(three, "d")).toMatchObject({ state: { mode: "confirm" } });
  expect(after(three, "d").effect).toBeUndefined();
  expect(after(three, "d", "n")).toMatchObject({ state: { mode: "list", notice: "Nothing was changed." } });
  expect(after(three, "d", "n").effect).toBeUndefined();
  expect(after(three, "d", "y").effect).toMatchObject({ type: "act", action: "disable", items: [{ key: "10" }] });
  expect(after(three, "t").effect).toMatchObject({ type: "act", action: "test" });
  expect(after(three, "x")).toMatchObject({ state: { mode: "list", notice: "channel 10 has no delete." } });
});

test("changes nothing in a read-only screen", () => {
  for (const key of ["d", "t", "e", "x", "C", "c", "E", "P", "W"])
    expect(after({ ...three, isReadOnly: true }, key, "Y").effect).toBeUndefined();
});

test("opens resources by name and names the known ones", () => {
  expect(after(three, ":", "l", "o", "g", "s", "enter")).toMatchObject({
    state: { resource: logs, isFollowing: true },
    effect: { type: "load" },
  });
  expect(after(three, ":", "x", "enter").state.notice).toBe("There is no resource x: use channels, logs.");
  expect(after(three, ":", "q", "enter").effect).toEqual({ type: "quit" });
});

test("opens the failing calls of the chosen channel and returns to all calls", () => {
  const { state, effect } = after(three, "down", "l");
  expect([state.resource.name, state.scope?.channel, state.scope?.isFailing]).toEqual(["logs", "9", true]);
  expect(effect).toEqual({ type: "load" });
  expect(after(state, "escape")).toMatchObject({ state: { scope: undefined }, effect: { type: "load" } });
});

test("fills every height exactly, with title and chosen row", () => {
  const many = Array.from({ length: 50 }, (_, at) => item(at, `channel-${at}`));
  for (const height of [5, 10, 24, 80])
    for (const steps of [0, 25, 49]) {
      const state = { ...loaded(three, many, { isCut: false }), chosenKey: String(steps) };
      const frame = renderFrame(state, { server: "http://a", user: "root", width: 60, height });
      expect(frame).toHaveLength(height);
      expect(frame[0]?.text).toContain("channels 50");
      expect(frame.filter(({ tone }) => tone === "chosen").map(({ text }) => text)).toEqual([
        expect.stringContaining(`channel-${steps}`),
      ]);
    }
});

test("has the gateway search where it has more rows than were read, and reads more on request", () => {
  const cut = { ...three, isCut: true };
  expect(after(cut, "/", "x", "enter")).toMatchObject({ state: { search: "x" }, effect: { type: "load" } });
  expect(after(after(cut, "/", "x", "enter").state, "escape")).toMatchObject({
    state: { search: "", filter: "" },
    effect: { type: "load" },
  });
  expect(after(three, "/", "x", "enter").effect).toBeUndefined();
  expect(after(cut, "m")).toMatchObject({ state: { pages: 2 }, effect: { type: "load" } });
  expect(after(three, "m").effect).toBeUndefined();
});

test("the help fits the narrowest terminal", () => {
  expect(listHelpLines(false).filter((line) => line.length > 60)).toEqual([]);
});

test("space marks rows, and an action changes the marked ones that the filter shows", () => {
  const { state } = after(three, " ", " ");
  expect(state.marked).toEqual(["10", "9"]);
  expect(chosenAt(state)).toBe(2);
  expect(after(state, "d", "y").effect).toMatchObject({ items: [{ key: "10" }, { key: "9" }] });
  const filtered = after(state, "/", "o", "p", "enter").state;
  expect(after(filtered, "d", "y").effect).toMatchObject({ items: [{ key: "9" }] });
  expect(after(state, "escape").state.marked).toEqual([]);
  expect(after(after(state, "k").state, " ").state.marked).toEqual(["10"]);
});

test("several rows are deleted only after their number is typed", () => {
  const items = three.items.map((one) => ({ ...one, actions: ["delete" as const] }));
  const { state } = after(loaded(three, items, { isCut: false }), " ", " ", "x");
  expect(after(state, "y", "enter")).toMatchObject({ state: { notice: "Nothing was changed." } });
  expect(after(state, "3", "enter").effect).toBeUndefined();
  expect(after(state, "2", "enter").effect).toMatchObject({ action: "delete", items: [{ key: "10" }, { key: "9" }] });
});

test("undo shows the changes of an option before it asks", () => {
  const options = { name: "options", aliases: [], titles: ["KEY"], numeric: [false] };
  const row = { ...item(1, "RetryTimes"), actions: ["undo" as const] };
  const list = loaded(createInitialState(options, lasting), [row], { isCut: false });
  expect(after(list, "u").effect).toMatchObject({ type: "detail" });
  const detail: State = { ...list, mode: "detail", detail: ["changes"] };
  expect(after(detail, "u")).toMatchObject({ state: { mode: "confirm" } });
  expect(after(detail, "u", "y").effect).toMatchObject({ action: "undo", items: [{ key: "1" }] });
});

test("the help of a read-only screen has no key that changes anything, and scrolls", () => {
  expect(listHelpLines(true).join("\n")).not.toMatch(/create|delete|enable|undo|apply|priority/);
  const { state } = after(three, "?", "j");
  expect(renderFrame(state, { server: "", user: "", width: 60, height: 10 })[1]?.text).toBe(listHelpLines(false)[1]);
  expect(after(state, "x").state.mode).toBe("list");
});

test("a message that is longer than the line takes more of them, whole words each", () => {
  const notice = `! ${"a long failure ".repeat(6)}/a/path/${"deep/".repeat(20)}; name another file`;
  const frame = renderFrame({ ...three, notice }, { server: "", user: "", width: 60, height: 15 });
  expect(frame).toHaveLength(15);
  expect(frame.filter(({ text }) => text.length > 60)).toEqual([]);
  expect(frame.slice(-4, -3)[0]?.text).toMatch(/^! a long failure .* a long$/);
  const label = "channel 1 (a-name-that-is-as-long-as-names-of-channels-may-be)";
  const asked = after(loaded(three, [{ ...item(1, "a"), label }], { isCut: false }), "d").state;
  const foot = renderFrame(asked, { server: "", user: "", width: 60, height: 15 }).slice(-3, -1);
  expect(foot.map(({ text }) => text)).toEqual([`disable ${label.slice(0, 9)}`, `${label.slice(10)}? [y/N]`]);
});

test("what a plan deletes is applied after its name is typed, several after their number", () => {
  const changes = { name: "changes", aliases: [], titles: ["ACTION", "NAME"], numeric: [false, false] };
  const apply = { actions: ["apply" as const] };
  const items = [
    { ...item(1, "new"), ...apply },
    { ...item(2, "old"), ...apply, deletes: "old" },
    { ...item(3, "older"), ...apply, deletes: "older" },
  ];
  const list = loaded(createInitialState(changes, lasting), items, { isCut: false });
  const lines = renderFrame(list, { server: "", user: "", width: 60, height: 15 }).map(({ text }) => text);
  expect(lines.findIndex((line) => line.startsWith("DELETED"))).toBe(
    lines.findIndex((line) => / 2 +old/.test(line)) - 1,
  );
  const one = after(list, " ", " ", "a").state;
  expect(after(one, "y", "enter")).toMatchObject({ state: { notice: "Nothing was changed." } });
  expect(after(one, "o", "l", "d", "enter").effect).toMatchObject({
    action: "apply",
    items: [{ key: "1" }, { key: "2" }],
  });
  const two = after(list, " ", " ", " ", "a").state;
  expect(after(two, "3", "enter").effect).toBeUndefined();
  expect(after(two, "2", "enter").effect).toMatchObject({ action: "apply" });
});

test("the frame shows the chosen columns, and the sort stays", () => {
  const hidden = after(three, "s", "v", " ", "enter");
  expect(hidden.effect).toEqual({ type: "keep" });
  expect(hidden.state.columns).toEqual({ channels: ["NAME"] });
  expect(listVisibleKeys(hidden.state)).toEqual(["2", "9", "10"]);
  const lines = renderFrame(hidden.state, { server: "", user: "", width: 60, height: 15 });
  expect(lines[1]?.text.trim()).toBe("NAME");
  // The last column stays.
  expect(after(hidden.state, "v", "j", " ").state.columns).toEqual({ channels: ["NAME"] });
  expect(after(hidden.state, "v", "backspace", "enter").state.columns).toEqual({});
});

test("a number of the list is changed after it is typed, and a wrong one is explained in place", () => {
  const items = three.items.map((one) => ({
    ...one,
    actions: ["priority" as const],
    amounts: { priority: 5, weight: 0 },
  }));
  const list = loaded(three, items, { isCut: false });
  const asked = after(list, "P", "1", "x").state;
  const foot = (state: State) => renderFrame(state, { server: "", user: "", width: 60, height: 15 }).at(-2)?.text;
  expect(foot(asked)).toBe("priority of channel 10, now 5: 1x");
  expect(foot(after(asked, "enter").state)).toBe("! priority: 1x does not fit; write a whole number from -999");
  expect(after(asked, "enter", "backspace", "2", "enter").effect).toMatchObject({
    action: "priority",
    given: { amount: 12 },
  });
  expect(after(asked, "escape")).toMatchObject({ state: { mode: "list", notice: "Nothing was changed." } });
});

test("an empty list says what is not there and which key leads on", () => {
  const place = { server: "https://ai.example.com", user: "root", width: 80, height: 24 };
  const emptied = (state: State) => renderFrame(loaded(state, [], { isCut: false }), place)[1]?.text;
  expect(emptied(createInitialState(channels, lasting))).toBe("No channels.");
  expect(emptied({ ...createInitialState(channels, lasting), filter: "x" })).toBe(
    "No channels match /x; esc clears it.",
  );
  const scope = { channel: "3", label: "channel 3", isFailing: true };
  expect(emptied({ ...createInitialState(logs, lasting), scope })).toBe(
    "No failing calls of channel 3; L at the channel lists all its calls.",
  );
});

const LOGS = Array.from("logs");
const CHANNELS = Array.from("channels");

test("esc goes back list by list, to the rows and the choice that were left", () => {
  const { state } = after(three, "down", ":", ...LOGS, "enter");
  expect(state.resource).toBe(logs);
  const calls = after(after(three, "down", "l").state, "escape");
  for (const back of [after(state, "escape"), calls]) {
    expect(back.state).toMatchObject({ resource: channels, chosenKey: "9", isLoading: true, back: [] });
    expect(back.effect).toEqual({ type: "load" });
  }
  const twice = after(state, ":", ...CHANNELS, "enter").state;
  expect(after(twice, "escape").state.resource).toBe(logs);
  expect(after(twice, "escape", "escape").state).toMatchObject({ resource: channels, chosenKey: "9" });
  expect(after(twice, ":", ...CHANNELS, "enter", "escape").state.resource).toBe(logs);
  expect(after(three, "escape").effect).toBeUndefined();
});

test("a filter is left before the list, and what was chosen for all lists stays", () => {
  const { state } = after(three, ":", ...LOGS, "enter", "/", "x", "enter");
  expect(after(state, "escape").state.resource).toBe(logs);
  const changed = { ...after(state, "escape").state, columns: { channels: ["NAME"] } };
  expect(after(changed, "escape").state).toMatchObject({ resource: channels, columns: { channels: ["NAME"] } });
});

test("a screen remembers a bounded number of lists", () => {
  let state = three;
  for (let at = 0; at < 30; at += 1) state = after(state, ":", ...(at % 2 === 0 ? LOGS : CHANNELS), "enter").state;
  expect(state.back).toHaveLength(10);
  expect(state.back.every(({ back }) => back.length === 0)).toBe(true);
});

test("the colon shows the commands that fit and completes them with tab", () => {
  const foot = (state: State) => renderFrame(state, { server: "s", user: "u", width: 80, height: 24 }).at(-2)?.text;
  expect(foot(after(three, ":", "c").state)).toBe(":c   channels");
  expect(foot(after(three, ":", "c", "tab").state)).toBe(":channels");
  expect(after(three, ":", "l", "tab", "enter").state.resource).toBe(logs);
  expect(foot(after(three, ":", "x", "tab").state)).toBe(":x");
  expect(after(three, ":", "c", "escape").state.notice).toBe("");
});

test("failing calls have their own columns unless some were chosen", () => {
  const titled = { ...logs, titles: ["TIME", "MODEL", "STATUS"], failing: [0, 2] };
  const state = { ...createInitialState(titled, lasting), scope: { channel: "1", label: "c", isFailing: true } };
  expect(shownColumns(state)).toEqual([0, 2]);
  expect(shownColumns({ ...state, scope: undefined })).toEqual([0, 1, 2]);
  expect(shownColumns({ ...state, scope: undefined, query: { type: "error" } })).toEqual([0, 2]);
  expect(shownColumns({ ...state, columns: { logs: ["MODEL"] } })).toEqual([1]);
});
