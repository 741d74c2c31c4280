import { isDeepStrictEqual } from "node:util";
import {
  CHANNEL_FIELDS,
  CHANNEL_STATUS,
  listChannelFields,
  ROLE,
  splitList,
  type ChannelInput,
  type ChannelSpec,
} from "@fairway/wire";
import { parseObject } from "../../lib/text/json.ts";
import { hintedText, restoredText } from "../../lib/text/secret-members.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { ProviderAdapter } from "../../providers/core/types.ts";
import type { Database } from "../../storage/database.ts";
import { SECRET_COLUMNS, secretPath } from "../../storage/secrets/channel-texts.ts";
import { destinationCheck } from "../channels/destination.ts";
import { changedFields, newFields, storedKey, type TypeCheck } from "../channels/input.ts";
import type { ChannelStore } from "../channels/store.ts";
import type { ChannelRow } from "../channels/view.ts";
import { channelInState } from "./channel-state.ts";
import { exportedNames, variableName, type Current, type ExportedRow, type Fields, type Kind } from "./kinds.ts";
import { blameDocument } from "./read-document.ts";

export interface ChannelKindDeps {
  readonly database: Database;
  readonly channels: ChannelStore;
  readonly providers: readonly ProviderAdapter[];
}

const DOCUMENTED = listChannelFields("document");

/** Members of a channel's form, by their names in documents. */
export const CHANNEL_MEMBERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(DOCUMENTED.map((column) => [CHANNEL_FIELDS[column].document.member, column])),
  key: "key",
};

/** Fields that are stored as JSON texts, which may contain hints in place of secrets. */
const OBJECTS = SECRET_COLUMNS.map((column) => ({ column, member: CHANNEL_FIELDS[column].document.member }));
type ObjectField = (typeof OBJECTS)[number];

export function channelKind(deps: ChannelKindDeps): Kind<ChannelSpec> {
  const { channels, providers } = deps;
  const isType = (type: number) => providers.some((provider) => provider.type === type);
  const current = async (row: ChannelRow | undefined, spec: ChannelSpec): Promise<Current | undefined> =>
    row && {
      id: row.id,
      fields: { ...toFields(row, providers), ...comparedObjects(row, spec), key: await channels.findKey(row.id) },
    };
  return {
    kind: "Channel",
    secrets: new Set(["key"]),
    secretPath(field) {
      const object = OBJECTS.find(({ member }) => member === field);
      return object && [field, ...secretPath(object.column)];
    },
    desired(name, spec) {
      const type = requireType(name, spec, providers);
      checkForm(name, spec, type, isType);
      return toWantedFields(spec, type);
    },
    async find(name, spec, ownedId) {
      if (ownedId !== undefined) return current(await channels.get(ownedId), spec);
      if (spec.adopt) return current(await adopted(channels, name, spec.adopt.channelId), spec);
      const same = await findChannelByName(deps, name, spec);
      return same === undefined ? undefined : current(await channels.get(same), spec);
    },
    refusal: ({ fields }, wanted) => (fields["type"] === wanted["type"] ? "" : "the type of a channel does not change"),
    lacks: (spec) => (spec.models ? lackingSecrets(spec) : "a new channel needs models"),
    inState: (wanted, current) => channelInState(wanted, current, providers),
    create: (name, spec) => createChannel(deps, isType, name, spec),
    async update(current, spec, changed) {
      const { id } = current;
      const row = await channels.get(id);
      if (!row) return;
      const form = toChannelInput({
        ...spec,
        ...channelInState(toWantedFields(spec, row.type), current, providers).changed,
      });
      const members = changed.filter((field) => field !== "key").map((field) => CHANNEL_MEMBERS[field] ?? field);
      const part = Object.fromEntries(Object.entries(form).filter(([member]) => members.includes(member)));
      const key = changed.includes("key") ? storedKey(spec.key ?? "", row.type) : undefined;
      // The author of a document need not know the stored key, so its server can only change together with the key.
      const check = spec.key === undefined ? destinationCheck({ role: ROLE.guest }) : undefined;
      await channels.update(id, changedFields(part, row, isType), { key, check });
    },
    remove: async ({ resource_id }) => void (await channels.remove([resource_id], { isForced: true })),
    disable: async (id) => void (await channels.update(id, { status: CHANNEL_STATUS.disabledByHand })),
    export: () => exported(deps),
  };
}

/** Creates a channel and returns its id. */
async function createChannel(
  { channels, providers }: ChannelKindDeps,
  isType: TypeCheck,
  name: string,
  given: ChannelSpec,
): Promise<number> {
  const type = requireType(name, given, providers);
  const spec = { ...given, ...channelInState(toWantedFields(given, type), undefined, providers).changed };
  const form = { ...toChannelInput(spec), type, name: spec.displayName ?? name };
  const models = (spec.models ?? []).join(",");
  const key = storedKey(spec.key ?? "", type) ?? "";
  const [id = 0] = await channels.create(newFields({ ...form, models }, isType), [key]);
  return id;
}

/** Throws `document_invalid` if the document cannot become a channel. */
function checkForm(name: string, spec: ChannelSpec, type: number, isType: TypeCheck): void {
  // Hints of an export represent stored values; only a change or a new channel finds out that they are missing.
  const form: Record<string, unknown> = { ...toChannelInput(spec) };
  for (const field of OBJECTS) if (holdsHints(spec, field)) delete form[field.column];
  const models = (spec.models ?? ["any"]).join(",");
  try {
    newFields({ ...form, type, name: spec.displayName ?? name, models }, isType);
  } catch (cause) {
    throw blameDocument(name, cause);
  }
}

function requireType(name: string, { type }: ChannelSpec, providers: readonly ProviderAdapter[]): number {
  const provider = providers.find(({ id }) => id === type);
  if (provider) return provider.type;
  throw new Refusal("document_invalid", { values: { name, reason: `there is no channel type ${type}` } });
}

async function adopted(channels: ChannelStore, name: string, id: number): Promise<ChannelRow> {
  const row = await channels.get(id);
  if (row) return row;
  throw new Refusal("document_invalid", { values: { name, reason: `there is no channel ${id}` } });
}

/** Returns the only channel with that name, unless a document owns it. */
async function findChannelByName(
  { database }: ChannelKindDeps,
  name: string,
  spec: ChannelSpec,
): Promise<number | undefined> {
  const rows = await database.db
    .selectFrom("channels as c")
    .leftJoin("managed_resources as m", (join) => join.onRef("m.resource_id", "=", "c.id").on("m.kind", "=", "Channel"))
    .select("c.id")
    .where("c.name", "=", spec.displayName ?? name)
    .where("m.name", "is", null)
    .limit(2)
    .execute();
  return rows.length === 1 ? rows[0]?.id : undefined;
}

/** Returns the members of the form that the document sets. */
function toChannelInput(spec: ChannelSpec): ChannelInput {
  const members = DOCUMENTED.map((column) => {
    const { kind, document } = CHANNEL_FIELDS[column];
    const value = spec[document.member];
    return [column, value === undefined ? undefined : CONVERSIONS[kind].toColumn(value)] as const;
  });
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as ChannelInput;
}

interface Conversion {
  /** Converts the value of a document. */
  toColumn(value: unknown): unknown;
  toMember(stored: string | number | null): unknown;
}

const AS_IT_IS: Conversion = { toColumn: (value) => value, toMember: (stored) => stored ?? "" };

const CONVERSIONS: Readonly<Record<(typeof CHANNEL_FIELDS)[(typeof DOCUMENTED)[number]]["kind"], Conversion>> = {
  text: AS_IT_IS,
  whole: AS_IT_IS,
  decimal: AS_IT_IS,
  list: {
    toColumn: (value) => (value as readonly string[]).join(","),
    toMember: (stored) => splitList(String(stored)),
  },
  flag: { toColumn: Number, toMember: (stored) => stored !== 0 },
  object: {
    toColumn: (value) => mapText(value as Readonly<Record<string, unknown>>),
    toMember: (stored) => parseObject(String(stored ?? "")) ?? {},
  },
  state: {
    toColumn: (isOn) => (isOn === true ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabledByHand),
    // A channel that the system disabled is still meant to be enabled.
    toMember: (status) => status !== CHANNEL_STATUS.disabledByHand,
  },
};

function mapText(map: Readonly<Record<string, unknown>>): string {
  return Object.keys(map).length === 0 ? "" : JSON.stringify(map);
}

/** Returns the fields in the form of `toFields`, so that both can be compared. */
function toWantedFields(spec: ChannelSpec, type: number): Fields {
  const { deletionPolicy: _policy, adopt: _adopt, credentialsFrom: _source, ...rest } = spec;
  const wanted: Record<string, unknown> = { ...rest, type: spec.type };
  if (spec.baseUrl !== undefined) wanted["baseUrl"] = spec.baseUrl.trim().replace(/\/$/, "");
  if (spec.models) wanted["models"] = splitList(spec.models.join(","));
  if (spec.groups) wanted["groups"] = splitList(spec.groups.join(","));
  if (spec.key !== undefined) wanted["key"] = storedKey(spec.key, type) ?? "";
  return wanted;
}

function toFields(row: ChannelRow, providers: readonly ProviderAdapter[]): Fields {
  const members = DOCUMENTED.map((column) => {
    const { kind, document } = CHANNEL_FIELDS[column];
    return [document.member, CONVERSIONS[kind].toMember(row[column])] as const;
  });
  return {
    type: providers.find(({ type }) => type === row.type)?.id ?? String(row.type),
    ...Object.fromEntries(members),
    ...Object.fromEntries(OBJECTS.map((field) => [field.member, shownObject(row, field)])),
  };
}

function shownObject(row: ChannelRow, { column }: ObjectField): Fields {
  return parseObject(hintedText(row[column] ?? "", secretPath(column))) ?? {};
}

function holdsHints(spec: ChannelSpec, { column, member }: ObjectField): boolean {
  return "unknown" in restoredText(JSON.stringify(spec[member] ?? {}), undefined, secretPath(column));
}

/** Returns the missing secrets: hints of an export have no meaning for a channel that does not exist yet. */
function lackingSecrets(spec: ChannelSpec): string {
  const fields = OBJECTS.filter((field) => holdsHints(spec, field));
  if (fields.length === 0) return "";
  const members = fields.map(({ member }) => member).join(" and ");
  return `a new channel needs the secrets themselves in place of **** in ${members}`;
}

/**
 * Returns the fields as the document writes them if its hints match the stored values; otherwise in clear, so that the
 * change is detected.
 */
function comparedObjects(row: ChannelRow, spec: ChannelSpec): Fields {
  const written = OBJECTS.filter(({ member }) => spec[member] !== undefined);
  return Object.fromEntries(written.map((field) => [field.member, comparedObject(row, spec, field)]));
}

function comparedObject(row: ChannelRow, spec: ChannelSpec, { column, member }: ObjectField): unknown {
  const stored = parseObject(row[column] ?? "") ?? {};
  const restored = restoredText(JSON.stringify(spec[member]), row[column], secretPath(column));
  return "text" in restored && isDeepStrictEqual(JSON.parse(restored.text), stored) ? spec[member] : stored;
}

async function exported({ database, channels, providers }: ChannelKindDeps): Promise<ExportedRow[]> {
  const ids = await database.db.selectFrom("channels").select(["id", "name"]).orderBy("id").execute();
  const documents: ExportedRow[] = [];
  const variables = new Set<string>();
  for (const [id, name] of exportedNames(ids)) {
    const [row, key] = await Promise.all([channels.get(id), channels.findKey(id)]);
    if (!row) continue;
    // The key itself is never exported; the caller who applies the document provides it.
    const keys = key?.includes("\n") === true && parseObject(key) === undefined ? { keys: "Split" } : {};
    const plain = variableName("channel", name);
    // Names that differ only in dots and dashes would share a variable, and so a key.
    const env = variables.has(plain) ? variableName("channel", String(id), name) : plain;
    variables.add(env);
    const source = key ? { credentialsFrom: { env, ...keys } } : {};
    documents.push({ id, name, spec: { ...toFields(row, providers), ...source } });
  }
  return documents;
}
