import { ROLE, type ReportQuestion, type UsageReport } from "@fairway/wire";
import { EVERYTHING, type LogQuery } from "../../logs/filter.ts";
import { DAY } from "../../statistics/dimensions.ts";
import { buildReport, type ReportDeps } from "../build-report.ts";
import { checkOwnFields, readQuestion, type Asked } from "../question.ts";

/** The person for whom a report is made. */
export interface Reader {
  readonly userId: number;
  readonly role: number;
}

/** A period in epoch seconds; without an end until now, without a start the days of the question. */
interface Bounds {
  readonly start: number;
  readonly end: number;
}

/** Makes a saved report of what its reader may see now. Throws a refusal for fields that the reader must not use. */
export function makeReport(
  question: ReportQuestion,
  { reader, start, end }: Bounds & { readonly reader: Reader },
  deps: ReportDeps,
): Promise<UsageReport> {
  const until = end > 0 ? end : Math.floor(deps.clock.now() / 1000) + 1;
  const bounds = { start: start > 0 ? start : until - question.days * DAY, end: until };
  const isAdmin = reader.role >= ROLE.admin;
  if (!isAdmin) checkOwnFields(question.by);
  return buildReport(toAsked(question, bounds), buildFilter(question, reader), deps);
}

/** Refuses a question that cannot be answered, before it is saved. */
export function checkQuestion(question: ReportQuestion, { role }: Reader, now: number): void {
  if (role < ROLE.admin) checkOwnFields(question.by);
  readQuestion(toAsked(question, { start: now - question.days * DAY, end: now }), now);
}

function toAsked(question: ReportQuestion, bounds: Bounds): Asked {
  const { by, interval = "none", time_zone = "", shared = "", split = "" } = question;
  return { by, interval, time_zone, shared, split, ...bounds };
}

/** Filters of operators are left out for others: they see their own calls. */
function buildFilter(question: ReportQuestion, { userId, role }: Reader): LogQuery {
  const { tags = "", end_user = "", model_name = "", token_name = "", group = "" } = question;
  const { username = "", channel = 0 } = question;
  const isAdmin = role >= ROLE.admin;
  const rest = isAdmin ? { username, channel } : { ownerId: userId };
  return { ...EVERYTHING, tags, end_user, model_name, token_name, group, ...rest };
}
