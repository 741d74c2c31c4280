// One page for each provider: what a channel needs, what clients can call, and what is changed on the way. Everything
// comes from the provider's record and from the planner that serves the calls.
import type { DialectId, Operation } from "../../packages/gateway/src/dialects/core/types.ts";
import type { SettingForm } from "../../packages/gateway/src/providers/core/setting-form.ts";
import type { ProviderAdapter } from "../../packages/gateway/src/providers/core/types.ts";
import { allProviders } from "../../packages/gateway/src/providers/registry.ts";
import { matchRoute } from "../../packages/gateway/src/relay/ingress/routes.ts";
import { planFor, type Plan } from "../../packages/gateway/src/relay/selection/plan.ts";
import { createChannelRecord, createRequestSpec } from "../../packages/gateway/test/kit/provider-kit.ts";
import { code, page, table } from "./markdown.ts";

interface Call {
  readonly path: string;
  readonly operation: Operation;
  readonly dialect: DialectId;
}

const GEMINI = "/v1beta/models/MODEL";
const PATHS = [
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/messages",
  `${GEMINI}:generateContent`,
  "/v1/completions",
  "/v1/messages/count_tokens",
  `${GEMINI}:countTokens`,
  "/v1/responses/input_tokens",
  "/v1/responses/compact",
  "/v1/embeddings",
  `${GEMINI}:embedContent`,
  "/v1/rerank",
  "/v1/moderations",
  "/v1/images/generations",
  "/v1/images/edits",
  "/v1/images/variations",
  "/v1/audio/speech",
  "/v1/audio/transcriptions",
  "/v1/audio/translations",
];
const CALLS: readonly Call[] = [
  ...PATHS.map(readCall),
  { path: "/v1/realtime", operation: "realtime", dialect: "openai-realtime" },
];
const FORMS: Readonly<Record<Exclude<SettingForm, readonly string[]>, string>> = {
  flag: "true or false",
  count: "a whole number from 1 on",
  text: "a text",
  texts: "a list of texts",
  object: "an object",
  objects: "a list of objects",
  address: "an address",
  paths: "paths by operation",
};

/** Returns the pages by the names of their files, without the end `.md`. */
export function providerPages(): Record<string, string> {
  return Object.fromEntries(allProviders.map((provider) => [nameProviderPage(provider), writePage(provider)]));
}

export function nameProviderPage({ id }: ProviderAdapter): string {
  return id.replaceAll("_", "-");
}

function readCall(path: string): Call {
  const route = matchRoute("POST", path);
  if (route.kind !== "relay") throw new Error(`${path} is no path of the relay`);
  return { path, operation: route.operation, dialect: route.dialect };
}

function writePage(provider: ProviderAdapter): string {
  return page(
    provider.label,
    "packages/gateway/src/providers/vendors",
    `Channel type ${provider.type}, ${code(provider.id)} on the command line. See also [all types](../providers.md) and [channels and their providers](../../operate/providers.md).`,
    ...(provider.retired ? ["The console no longer offers this type for new channels. Existing channels work."] : []),
    "## What a channel needs",
    table(["Field", "Value"], listFields(provider)),
    ["```sh", writeCommand(provider), "```"].join("\n"),
    "## What clients can call",
    ...describeCalls(provider),
    ...describeChanges(provider),
    "## Usual models",
    describeModels(provider.models),
  );
}

function listFields(provider: ProviderAdapter): string[][] {
  const { namedBases = {}, settings = {}, otherHint, otherDefault } = provider;
  return [
    ["Key", describeKey(provider)],
    ["Base URL", describeBase(provider)],
    ...Object.entries(namedBases).map(([name, url]) => [`Base URL ${code(name)}`, `short for ${code(url)}`]),
    ...(otherHint || otherDefault ? [["Free field (`other`)", describeOther(provider)]] : []),
    ...Object.entries(settings).map(([name, form]) => [`Setting ${code(name)}`, describeForm(form)]),
    ["Balance at the provider", provider.balance ? "can be read" : "cannot be read"],
    ["List of models", provider.listModels ? "can be fetched" : "is typed by hand"],
  ];
}

function describeKey({ keyHint = "", isKeyOptional, hasKeyFile }: ProviderAdapter): string {
  const isProse = keyHint.includes(" ") || keyHint === "optional";
  const form = isProse ? keyHint : code(keyHint) || "the provider's API key";
  return [form, ...(isKeyOptional && !isProse ? ["may be empty"] : []), ...(hasKeyFile ? ["one file"] : [])].join("; ");
}

function describeBase({ baseUrl, base, hasWholeUrl, isTask }: ProviderAdapter): string {
  if (hasWholeUrl) return "required: the whole address of the calls";
  if (baseUrl !== "") return `${code(baseUrl)} when empty`;
  return base && !isTask ? "derived from key, region or model when empty" : "required";
}

function describeOther({ otherHint = "", otherDefault }: ProviderAdapter): string {
  return otherDefault === undefined ? otherHint : `${otherHint}; the form begins with ${code(otherDefault)}`;
}

function describeForm(form: SettingForm): string {
  return typeof form === "string" ? FORMS[form] : form.map(code).join(" or ");
}

function writeCommand(provider: ProviderAdapter): string {
  const { id, baseUrl, base, models, hasRegions } = provider;
  return [
    `fairway channel create --type ${id} --name ${nameProviderPage(provider)}`,
    ...(baseUrl === "" && !base ? ["--base-url https://HOST"] : []),
    ...(hasRegions ? ["--other REGION"] : []),
    `--models ${models[0] ?? "MODEL"} --key-file FILE`,
  ].join(" ");
}

function describeCalls(provider: ProviderAdapter): string[] {
  if (provider.isTask) return ["Drawings, songs and videos, as [tasks](../../explain/tasks.md)."];
  const rows = CALLS.flatMap((call) => {
    const ways = listWays(provider, call);
    return ways.length === 0 ? [] : [[code(call.path), joinWays(ways)]];
  });
  return [
    "The protocol in which a request reaches the provider. *As it is* means that nothing is converted; [conversions](../conversions.md) says what becomes of each feature otherwise. Where there are several, the model or the request decides.",
    table(["Client's call", "Reaches the provider"], rows),
  ];
}

function listWays(provider: ProviderAdapter, { operation, dialect }: Call): string[] {
  const { type, baseUrl, otherDefault = "", models } = provider;
  const channel = createChannelRecord({ type, baseUrl, other: otherDefault });
  const names = models.length === 0 ? ["model"] : models;
  const plans = names.flatMap((model) =>
    [false, true].map((stream) => planFor(channel, createRequestSpec({ operation, dialect, model, stream }), model)),
  );
  return [...new Set(plans.flatMap((plan) => (plan ? [describeWay(plan)] : [])))].toSorted();
}

const AS_IT_IS = "as it is";

/** Returns "as it is", or the protocol to which a plan converts. */
function describeWay({ bridges, route }: Plan): string {
  if (bridges.length === 0) return AS_IT_IS;
  const own = /^private:(.+)$/.exec(route.dialect)?.[1];
  return own === undefined ? code(route.dialect) : `the provider's own ${code(own)}`;
}

function joinWays(ways: readonly string[]): string {
  const targets = ways.filter((way) => way !== AS_IT_IS);
  return [
    ...(ways.includes(AS_IT_IS) ? [AS_IT_IS] : []),
    ...(targets.length === 0 ? [] : [`converted to ${targets.join(" or ")}`]),
  ].join(", or ");
}

function describeChanges({ requestTransforms = [], responseTransforms = [] }: ProviderAdapter): string[] {
  const list = (title: string, changes: readonly { readonly name: string }[]) =>
    changes.length === 0 ? [] : [title, changes.map(({ name }) => `- ${name}`).join("\n")];
  const parts = [
    ...list("In requests, before they are sent:", requestTransforms),
    ...list("In answers, before clients see them:", responseTransforms),
  ];
  return parts.length === 0 ? [] : ["## What is changed on the way", ...parts];
}

function describeModels(models: readonly string[]): string {
  if (models.length === 0) return "The form offers none: type the names, or fetch them from the provider.";
  return `The form offers these. A model that is not listed works all the same.\n\n${models.map(code).join(", ")}`;
}
