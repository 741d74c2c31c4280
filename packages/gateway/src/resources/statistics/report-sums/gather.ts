import { LOG_TYPE, parseTags } from "@fairway/wire";
import { readBatchedCalls } from "../../../batches/results/log-detail.ts";
import type { AlikeRows, DetailedRow, GatheredLog } from "../alike-rows.ts";
import { DAY, HOUR } from "../dimensions.ts";

/** Row of `revisions` with the id of the last log row in the sums of reports. */
export const REPORT_SUMS_MARK = "report-sums";
/** Row of `revisions` with the time (seconds) up to which the sums of reports may lack rows. */
export const REPORT_SUMS_GAP = "report-sums-gap";

/** Numbers of the column `cube`; never change one. Each has the account that paid as owner. */
export const CUBE = {
  all: 0,
  model: 1,
  group: 2,
  token: 3,
  channel: 4,
  actor: 5,
  tag: 6,
  tagModel: 7,
  endUser: 8,
} as const;
export type CubeNumber = (typeof CUBE)[keyof typeof CUBE];

export const FIGURE_NAMES = ["calls", "errors", "input_tokens", "output_tokens", "quota"] as const;
export type SumFigures = Record<(typeof FIGURE_NAMES)[number], number>;

/** What one sum is of. */
export interface SumKey {
  readonly cube: CubeNumber;
  /** "" unless the cube is of tags. */
  readonly tagKey: string;
  readonly span: number;
  readonly ownerId: number;
  readonly start: number;
  readonly value: string;
  readonly model: string;
}

export interface ReportSum {
  readonly key: SumKey;
  readonly figures: SumFigures;
}

const MAX_VALUE = 64;
const MAX_MODEL = 255;

/** Sums the calls of a pass by everything that reports group by, with the figures of the reports. */
export function gatherReportSums(groups: readonly AlikeRows[], trim: (text: string) => string): ReportSum[] {
  const sums = new Map<string, ReportSum>();
  for (const { first: row, rows } of groups) {
    if (row.type !== LOG_TYPE.consume && row.type !== LOG_TYPE.error) continue;
    const figures = { ...NOTHING };
    for (const one of rows) addFigures(figures, readFigures(one));
    for (const of of listSubjects(row, trim)) {
      for (const span of [HOUR, DAY]) {
        const start = row.created_at - (row.created_at % span);
        addSum(sums, { ...of, span, ownerId: row.user_id, start }, figures);
      }
    }
  }
  return [...sums.values()];
}

/** Adds figures to the sum of a key. */
export function addSum(sums: Map<string, ReportSum>, key: SumKey, figures: SumFigures): void {
  const name = buildSumKey(key).join("\n");
  let sum = sums.get(name);
  if (!sum) sums.set(name, (sum = { key, figures: { ...NOTHING } }));
  addFigures(sum.figures, figures);
}

function addFigures(sum: SumFigures, more: SumFigures): void {
  for (const figure of FIGURE_NAMES) sum[figure] += more[figure];
}

/** Returns the values of the key columns, in the order of the columns. */
export function buildSumKey({ cube, tagKey, span, ownerId, start, value, model }: SumKey): (string | number)[] {
  return [cube, tagKey, span, ownerId, start, value, model];
}

const NOTHING: SumFigures = { calls: 0, errors: 0, input_tokens: 0, output_tokens: 0, quota: 0 };

function listSubjects(
  row: GatheredLog,
  trim: (text: string) => string,
): Pick<SumKey, "cube" | "tagKey" | "value" | "model">[] {
  const model = trim(row.model_name.slice(0, MAX_MODEL));
  const of = (cube: CubeNumber, value: string | number) => ({
    cube,
    tagKey: "",
    value: trim(String(value).slice(0, MAX_VALUE)),
    model: "",
  });
  const subjects = [
    of(CUBE.all, ""),
    { ...of(CUBE.model, ""), model },
    of(CUBE.group, row.group),
    of(CUBE.token, row.token_id),
    of(CUBE.channel, row.channel_id),
    of(CUBE.actor, row.actor),
    of(CUBE.endUser, row.end_user),
  ];
  for (const [tagKey, value] of parseTags(row.tags))
    subjects.push({ ...of(CUBE.tag, value), tagKey }, { ...of(CUBE.tagModel, value), tagKey, model });
  return subjects;
}

/** A row of a batch stands for all its items, and the last error of a minute for those that repeated it. */
function readFigures({ row, detail }: DetailedRow): SumFigures {
  const { type, quota, prompt_tokens: input, completion_tokens: output } = row;
  if (type === LOG_TYPE.error) {
    const repeated = detail["repeated"];
    const calls = typeof repeated === "number" && Number.isSafeInteger(repeated) ? repeated : 1;
    return { ...NOTHING, calls, errors: calls };
  }
  const batched = readBatchedCalls(detail);
  const calls = batched ? batched.succeeded + batched.failed : 1;
  return { calls, errors: batched?.failed ?? 0, input_tokens: input, output_tokens: output, quota };
}
