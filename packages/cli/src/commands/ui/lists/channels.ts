import {
  CHANNEL_STATUS,
  channelBalance,
  channelCopy,
  channelDelete,
  channelList,
  channelUpdate,
  declarativeManaged,
  splitList,
  type Channel,
} from "@fairway/wire";
import { isMissingCall } from "../../../core/problem.ts";
import { asDollars } from "../../../print/sheet.ts";
import type { SessionClient } from "../../../session/session.ts";
import { statusWord, typeNames } from "../../channel/channel.ts";
import { testOne } from "../../channel/checks.ts";
import { rowsUpTo } from "../../paging.ts";
import { parseSpan } from "../../../core/times.ts";
import { readField, type Field, type Values } from "../form.ts";
import { channelDetail } from "./channel-detail.ts";
import type { Given } from "../state.ts";
import { createsChannel } from "./creations.ts";
import { LIMIT, resource, type Definition, type Resource, type Seen } from "./resource.ts";

type Actions = Definition<Channel>["actions"];

/** The fields that the list changes in place, and undoes. */
type Change = Partial<Pick<Channel, "priority" | "weight" | "status">>;

export function channels(client: SessionClient, { channels: shape, quotaPerUnit, signs }: Seen): Resource {
  const undone = new Map<number, Change>();
  let types: ReadonlyMap<number, string> | undefined;
  let owners: ReadonlyMap<number, string> = new Map();
  const change = (row: Channel, fields: Change) => async () => {
    await client.call(channelUpdate, { body: { id: row.id, ...fields } });
    undone.set(row.id, valuesBefore(row, fields));
  };
  return resource<Channel>({
    name: "channels",
    page: "/channel",
    aliases: ["channel", "ch"],
    columns: asDollars(shape.columns, quotaPerUnit),
    wide: [...asDollars(shape.wide ?? [], quotaPerUnit), { title: "OWNER", value: ({ id }) => owners.get(id) ?? "-" }],
    async rows({ search: keyword, pages }) {
      const [found, managed] = await Promise.all([
        rowsUpTo(LIMIT * pages, (page) => client.call(channelList, { query: { keyword, ...page } })),
        readOwners(client),
      ]);
      owners = managed;
      return found;
    },
    getRowKey: ({ id }) => String(id),
    getRowLabel: ({ id, name }) => `channel ${id} (${name})`,
    isOff: ({ status }) => status !== CHANNEL_STATUS.enabled,
    amounts: ({ priority, weight }) => ({ priority, weight }),
    undoes(row) {
      const before = undone.get(row.id);
      return before && changeText(row, before);
    },
    detail: async ({ id }) =>
      channelDetail(client, id, { signs, quotaPerUnit, types: (types ??= await typeNames(client)) }),
    actions: (row) => buildActions({ client, undone, change }, row),
    choices: (row) => ({ test: testModels(row) }),
    isManaged: ({ id }) => owners.has(id),
    creates: createsChannel(client),
    disables: {
      fields: DISABLE_FIELDS,
      async disable(row, values) {
        await client.call(channelUpdate, { body: { id: row.id, ...OFF, ...(await causeIn(values)) } });
        undone.set(row.id, valuesBefore(row, OFF));
      },
    },
  });
}

interface Changing {
  readonly client: SessionClient;
  readonly undone: ReadonlyMap<number, Change>;
  /** Changes a channel, and remembers the previous values. */
  change(row: Channel, fields: Change): () => Promise<void>;
}

function buildActions({ client, undone, change }: Changing, row: Channel): ReturnType<NonNullable<Actions>> {
  const { id } = row;
  const before = undone.get(id);
  const amount = (field: "priority" | "weight") => async (given: Given | undefined) => {
    const value = given?.amount;
    await change(row, { [field]: value })();
    return `channel ${id}: ${field} ${row[field]} → ${value}; u takes that back`;
  };
  return {
    enable: change(row, { status: CHANNEL_STATUS.enabled }),
    disable: change(row, OFF),
    priority: amount("priority"),
    weight: amount("weight"),
    ...(before && {
      undo: async () => {
        await change(row, before)();
        return `channel ${id}: ${changeText(row, before)}`;
      },
    }),
    test: (given) => testText(client, id, given?.choice),
    balance: () => balanceText(client, id),
    copy: () => client.call(channelCopy, { params: { id } }),
    delete: () => client.call(channelDelete, { params: { id } }),
    edit: () => Promise.resolve(),
  };
}

const OFF = { status: CHANNEL_STATUS.disabledByHand } as const;

const DISABLE_FIELDS: readonly Omit<Field, "value">[] = [
  { name: "for", hint: "15m, 1h or 7d; empty = until it is enabled" },
  { name: "reason", hint: "why, for those who see it disabled" },
];

async function causeIn({ for: span, reason }: Values) {
  const seconds = span === undefined ? undefined : await readField("for", () => parseSpan(span, "for"));
  return { ...(seconds && { disable_seconds: seconds }), ...(reason && { status_reason: reason }) };
}

/** Returns who manages channels in documents, by channel id; empty if a compatible gateway has no documents. */
async function readOwners(client: SessionClient): Promise<ReadonlyMap<number, string>> {
  try {
    const { data } = await client.call(declarativeManaged, {});
    return new Map(data.flatMap(({ kind, resource_id: id, owner }) => (kind === "Channel" ? [[id, owner]] : [])));
  } catch (error) {
    if (isMissingCall(error)) return new Map();
    throw error;
  }
}

async function testText(client: SessionClient, id: number, model: string | undefined): Promise<string> {
  const { ok, seconds, message } = await testOne(client, id, model);
  const asked = model === undefined ? "" : ` ${ok ? "with" : "of"} ${model}`;
  const time = `${seconds.toFixed(2)} s`;
  return ok
    ? `channel ${id} answered${asked} in ${time}`
    : `channel ${id} failed its test${asked} after ${time}: ${message}`;
}

/** Returns the models, beginning with the one that the gateway tests if none is named. */
function testModels({ test_model: usual, models }: Channel): readonly string[] {
  return [...new Set([usual, ...splitList(models)])].filter((model) => model !== "");
}

async function balanceText(client: SessionClient, id: number): Promise<string> {
  const { siblings } = await client.call(channelBalance, { params: { id } });
  return `channel ${id} has $${Number(siblings["balance"]).toFixed(2)} left`;
}

/** Only the gateway sets "disabled automatically", so undoing an enabling disables by hand. */
function valuesBefore(row: Channel, fields: Change): Change {
  const status = row.status === CHANNEL_STATUS.enabled ? row.status : CHANNEL_STATUS.disabledByHand;
  const before = Object.keys(fields).map((name) => [name, { ...row, status }[name as keyof Change]]);
  return Object.fromEntries(before) as Change;
}

function changeText(row: Channel, next: Change): string {
  const words = (name: keyof Change, value: number | undefined) =>
    name === "status" ? statusWord(value ?? 0) : String(value);
  const names = Object.keys(next) as (keyof Change)[];
  return names.map((name) => `${name} ${words(name, row[name])} → ${words(name, next[name])}`).join(", ");
}
