import {
  importConfigStart,
  importDatabaseStart,
  importRunGet,
  importRunList,
  importServerStart,
  type MessageKey,
} from "@fairway/wire";
import { implement, type Call, type Route } from "../../../http/endpoint.ts";
import { Refusal } from "../../../lib/refusal.ts";
import { DumpError } from "../../../storage/dumps/literals.ts";
import { ForeignValueError } from "../../../storage/foreign.ts";
import type { JobControl, JobRunner } from "../../jobs/runner.ts";
import type { Announce } from "../../ports.ts";
import { UnknownConfig } from "../gateway-config.ts";
import { GroupNames } from "../groups.ts";
import { ImportReport } from "../report.ts";
import { host, ServerProblem } from "../servers/server-calls.ts";
import type { NewRun, RunStore } from "./store.ts";
import { receiveUpload } from "./upload.ts";
import { requireSqlLog, workOnConfig, workOnDatabase, workOnServer, type Work, type WorkDeps } from "./work.ts";

export interface ImportRunDeps extends WorkDeps {
  readonly runs: RunStore;
  readonly jobs: JobRunner;
  readonly announce: Announce;
  /** The largest file that an upload may have. */
  readonly maxUploadBytes: number;
}

/** Only one import runs at a time in the whole cluster. */
const JOB = "import";
const TOPICS = ["users", "tokens", "channels", "options"] as const;

export function importRunRoutes(deps: ImportRunDeps): Route[] {
  const { runs } = deps;
  return [
    implement(importRunList, () => runs.latest()),
    implement(importRunGet, async ({ params }) => (await runs.get(params.id)) ?? refuse("import_not_found")),
    implement(importConfigStart, async ({ body, caller, context }) => {
      const { config: text, name = "", variables: env = {}, dry_run: isDry = false, groups } = body;
      const prices = { areChannelsAsked: body.price_from_upstream ?? false, former: body.price_from };
      const run = { source: "config", place: name, isDry, startedBy: caller.userId };
      const writer = { userId: caller.userId, username: caller.username, ip: context.ip };
      return start(deps, run, ({ control, report }) =>
        workOnConfig(deps, { isDry, groups: new GroupNames(groups), writer, report, control, text, env, prices }),
      );
    }),
    implement(importServerStart, async ({ body, caller, context }) => {
      const { from, token, user_id: userId = 0, dry_run: isDry = false, groups } = body;
      const address = body.address.replace(/\/$/, "");
      const run = { source: from, place: host(address), isDry, startedBy: caller.userId };
      const writer = { userId: caller.userId, username: caller.username, ip: context.ip };
      const place = { from, address, token, userId };
      return start(deps, run, ({ control, report }) =>
        workOnServer(deps, { ...place, isDry, groups: new GroupNames(groups), writer, report, control }),
      );
    }),
    implement(importDatabaseStart, (call) => startDatabase(deps, call)),
  ];
}

async function startDatabase(
  deps: ImportRunDeps,
  { query, caller, context, request }: Call<typeof importDatabaseStart>,
) {
  const { maxUploadBytes: maxBytes, clock } = deps;
  const isDry = query.dry_run;
  const run = { source: "database", place: query.name, isDry, startedBy: caller.userId };
  const writer = { userId: caller.userId, username: caller.username, ip: context.ip };
  if (query.logs) requireSqlLog(deps);
  const upload = await receiveUpload(request, { maxBytes, announced: Number(query.bytes) || 0, clock });
  const kind = query.from ?? "new-api";
  const choices = { isDry, groups: new GroupNames(), writer, kind, withLogs: query.logs };
  try {
    return await start(deps, run, async ({ control, report }) => {
      try {
        // A dump is mostly names of columns and quotes: unpacked, it may be several times as long as the file.
        await workOnDatabase(deps, { ...choices, upload, maxBytes: maxBytes * 4, report, control });
      } finally {
        await upload.remove();
      }
    });
  } catch (error) {
    await upload.remove();
    throw error;
  }
}

type Bring = (work: Pick<Work, "control" | "report">) => Promise<void>;

/** Starts the import in the background; refuses a second one at the same time. */
async function start(deps: ImportRunDeps, run: NewRun, bring: Bring): Promise<{ id: number }> {
  const { runs, jobs } = deps;
  const id = await runs.add(run);
  const job = await jobs
    .run({ name: JOB, startedBy: run.startedBy, run: (control) => perform(deps, { id, control, run, bring }) })
    .catch(async (error: unknown) => {
      await runs.withdraw(id);
      throw error;
    });
  if (!job) {
    await runs.withdraw(id);
    throw new Refusal("import_running");
  }
  await runs.begun(id, job.id);
  return { id };
}

interface Performance {
  readonly id: number;
  readonly control: JobControl;
  readonly run: NewRun;
  readonly bring: Bring;
}

/** Keeps the report also of an import that stops half way: what it wrote stays. */
async function perform({ runs, announce }: ImportRunDeps, { id, control, run, bring }: Performance): Promise<void> {
  const report = new ImportReport();
  try {
    await control.confirm();
    await bring({ control, report });
    control.message("");
  } catch (error) {
    control.message(sayReason(error));
    throw error;
  } finally {
    await runs.keepReport(id, report);
    if (!run.isDry) for (const topic of TOPICS) await announce(topic);
  }
}

/** Errors that name a place of the source, and nothing of the program. */
const KNOWN = [ForeignValueError, UnknownConfig, ServerProblem, DumpError, Refusal];

function sayReason(error: unknown): string {
  if (error instanceof Error && KNOWN.some((kind) => error instanceof kind)) return error.message;
  return "the log of the gateway has the reason";
}

function refuse(key: MessageKey): never {
  throw new Refusal(key);
}
