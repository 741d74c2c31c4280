import {
  CHANNEL_FIELD_NAMES,
  CHANNEL_FIELDS,
  CHANNEL_STATUS,
  channelCreate,
  channelList,
  compatibleKeyFile,
  compatibleKeyParts,
  compatibleOther,
  compatibleType,
  compatibleTypeName,
  hasForeignHeaders,
  isBlank,
  splitList,
  type ChannelInput,
} from "@fairway/wire";
import { rowsUpTo } from "../paging.ts";
import { objectIn } from "../../core/json.ts";
import { attempt, noteColumns, readNumber, readText, type Carry, type ForeignRow } from "./carry.ts";

/** Columns that are read here, and those that only describe the past of the channel there. */
const KNOWN: readonly string[] = [
  ...CHANNEL_FIELD_NAMES,
  ..."id key config created_time test_time response_time balance balance_updated_time used_quota other_info".split(" "),
];

/** `keys` are those that the caller knows, by the channel's name or number on the other gateway. */
export async function carryChannels(carry: Carry, keys: ReadonlyMap<string, string>): Promise<void> {
  const { source, target, report } = carry;
  const { rows } = await rowsUpTo(Infinity, (page) => source.call(channelList, { query: { id_sort: true, ...page } }));
  const { rows: own } = await rowsUpTo(Infinity, (page) => target.call(channelList, { query: page }));
  const taken = new Set(own.map(({ name, type }) => buildTakenKey(name, type)));
  const foreign = rows as readonly ForeignRow[];
  noteColumns(carry, "channels", foreign, KNOWN);
  const used = new Set<string>();
  for (const row of foreign) {
    const name = readText(row, "name").trim() || `channel ${readNumber(row, "id")}`;
    const key = [name, String(readNumber(row, "id"))].find((one) => keys.has(one));
    if (key !== undefined) used.add(key);
    await carryChannel(carry, row, { name, taken, key: key === undefined ? undefined : keys.get(key) });
  }
  for (const name of keys.keys()) if (!used.has(name)) report.about("keys of channels that are not there", name);
}

interface Channel {
  readonly name: string;
  /** Names and types that exist here. */
  readonly taken: Set<string>;
  readonly key: string | undefined;
}

async function carryChannel(carry: Carry, row: ForeignRow, { name, taken, key: given }: Channel): Promise<void> {
  const { kind, target, report, isDry } = carry;
  const models = splitList(readText(row, "models"));
  const type = readNumber(row, "type");
  const here = compatibleType(kind, type, models);
  if (!here) {
    report.count("channels", "skipped");
    return report.note(
      `the channel ${name} has the type ${compatibleTypeName(kind, type)}, which this gateway does not know`,
    );
  }
  const secret = readKeyAndStatus(row, given);
  const address = readText(row, "base_url").trim().replace(/\/+$/, "") || (here.baseUrl ?? "");
  carry.served.push({ address, key: secret.key.split("\n", 1)[0] ?? "", models: upstreamNames(row, models) });
  if (taken.has(buildTakenKey(name, here.type))) return report.count("channels", "unchanged");
  taken.add(buildTakenKey(name, here.type));
  const body = {
    ...convertSettings(carry, row, name),
    ...secret,
    type: here.type,
    name,
    models: models.join(","),
    base_url: address,
  };
  if (secret.key === "") report.about("channels without a key, disabled until they have one", name);
  await attempt(carry, { what: "channels", name: `the channel ${name}` }, async () => {
    if (!isDry) await target.call(channelCreate, { body });
  });
}

function upstreamNames(row: ForeignRow, models: readonly string[]): Readonly<Record<string, string>> {
  const mapping = objectIn(readText(row, "model_mapping")) ?? {};
  const resolveUpstreamName = (model: string) => {
    const mapped = Object.hasOwn(mapping, model) ? mapping[model] : undefined;
    return typeof mapped === "string" && mapped !== "" ? mapped : model;
  };
  return Object.fromEntries(models.map((model) => [model, resolveUpstreamName(model)]));
}

/** Returns the key and the status that fits it: a channel without a key could only fail. */
function readKeyAndStatus(row: ForeignRow, given: string | undefined) {
  const config = parseConfig(row);
  const key = given ?? compatibleKeyFile(config) ?? compatibleKeyParts(config) ?? "";
  const isOn = readNumber(row, "status", CHANNEL_STATUS.enabled) === CHANNEL_STATUS.enabled && key !== "";
  const status = isOn ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabledByHand;
  return { key, status, ...(key.includes("\n") && { multi_key: true }) };
}

function parseConfig(row: ForeignRow): Readonly<Record<string, unknown>> {
  return objectIn(readText(row, "config")) ?? {};
}

/** Reads the proxy; the other settings of such gateways are ignored. */
function convertSetting({ report }: Carry, row: ForeignRow, name: string): string {
  const { proxy, ...others } = objectIn(readText(row, "setting")) ?? {};
  for (const member of Object.keys(others))
    if (!isBlank(others[member])) report.about(`channels with setting.${member}, which is not imported`, name);
  return isBlank(proxy) ? "" : JSON.stringify({ proxy });
}

function convertHeaders({ report }: Carry, row: ForeignRow, name: string): string {
  const text = readText(row, "header_override");
  if (Object.keys(objectIn(text) ?? {}).length === 0) return "";
  if (!hasForeignHeaders(text)) return text;
  report.about("channels that override headers in a form that is not known here, which is not imported", name);
  return "";
}

function convertSettings(carry: Carry, row: ForeignRow, name: string) {
  const { kind, resolveGroup } = carry;
  const groups = splitList(readText(row, "group") || "default").map(resolveGroup);
  // A text that is not an object never worked there either.
  const objectText = (name: string) =>
    Object.keys(objectIn(readText(row, name)) ?? {}).length > 0 ? readText(row, name) : "";
  const fields = CHANNEL_FIELD_NAMES.map((field) => {
    const { kind, initial } = CHANNEL_FIELDS[field];
    if (kind === "object") return [field, objectText(field)];
    return [field, typeof initial === "number" ? readNumber(row, field, initial) : readText(row, field)];
  });
  return {
    ...(Object.fromEntries(fields) as ChannelInput),
    group: [...new Set(groups)].join(","),
    other: kind === "one-api" ? compatibleOther(parseConfig(row), readText(row, "other")) : readText(row, "other"),
    setting: convertSetting(carry, row, name),
    header_override: convertHeaders(carry, row, name),
    weight: Math.max(0, readNumber(row, "weight")),
  };
}

function buildTakenKey(name: string, type: number): string {
  return `${type} ${name}`;
}
