import { FEATURES, type Feature } from "../../packages/gateway/src/dialects/bridges/features.ts";
import { CASES, runCase, TARGETS, type Case, type Target } from "../../packages/gateway/test/conversions/loss-table.ts";
import { code, groupBy, page, table } from "./markdown.ts";

const DIALECTS = [
  ["OpenAI chat", "openai-chat"],
  ["Anthropic", "anthropic-messages"],
  ["Gemini", "gemini-generate"],
  ["OpenAI Responses", "openai-responses"],
] as const;

export function conversions(): string {
  return page(
    "Conversions",
    "packages/gateway/src/dialects/bridges/features.ts",
    "Where client and upstream speak the same protocol nothing is converted and nothing is lost. Otherwise a request goes over OpenAI chat, and this is what becomes of each feature. **preserved** means the same to the upstream, **dropped** is left out and named in the log row, **refused** is answered with 400 `unsupported_parameter`. `packages/gateway/src/dialects/bridges/features.test.ts` sends each of them through the code.",
    "## From chat to an upstream",
    table(["Feature", ...DIALECTS.slice(1).map(([name]) => name), "Remark"], FEATURES.map(fates)),
    "## How each protocol says it",
    table(["Feature", ...DIALECTS.map(([name]) => name)], FEATURES.map(words)),
    "## Every part, item, block and tool",
    "What the official clients can send, read from their types (`npm run sdk-parts`), and a kind that no one knows yet. **carried** means that all of it is in the upstream's request, **refused** is answered with 400 and the name of the part, **named** is left out and named in `x-fairway-dropped` and in the log row. The last column lists the protocols of single vendors that carry a kind; the others refuse it, or name it where every column does. `packages/gateway/test/conversions/loss-table.test.ts` holds this table: nothing is lost without a word.",
    ...groupBy(CASES, ({ client }) => client).flatMap(([client, cases]) => [
      `### ${DIALECTS.find(([, dialect]) => dialect === client)?.[0] ?? client} clients`,
      table(["Place", "Kind", ...GENERAL.map(({ name }) => name), "Vendors' own protocols"], cases.map(partFates)),
    ]),
  );
}

const GENERAL = TARGETS.filter(({ provider }) => provider === undefined);
const VENDORS = TARGETS.filter(({ provider }) => provider !== undefined);

function partFates(one: Case): string[] {
  const fate = (target: Target) => runCase(one, target)?.fate ?? "as it is";
  const carrying = VENDORS.filter((target) => fate(target) === "carried").map(
    ({ name }) => name.split(" (")[0] ?? name,
  );
  return [
    one.place,
    code(one.kind),
    ...GENERAL.map(fate),
    carrying.length === VENDORS.length ? "all" : carrying.join(", "),
  ];
}

function fates({ name, fate, note = "" }: Feature): string[] {
  return [name, fate["anthropic-messages"], fate["gemini-generate"], fate["openai-responses"], note];
}

function words({ name, words: said }: Feature): string[] {
  return [name, ...DIALECTS.map(([, dialect]) => said[dialect])];
}
