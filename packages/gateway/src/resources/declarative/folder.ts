import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { ROLE, type DeclarativeDocument } from "@fairway/wire";
import { parseAllDocuments } from "yaml";
import { Refusal } from "../../lib/refusal.ts";
import type { Logger } from "../../observability/log.ts";
import { describeError } from "../../observability/reason.ts";
import type { Database } from "../../storage/database.ts";
import type { Documents, Writer } from "./documents.ts";
import { readDocument } from "./read-document.ts";

export interface FolderDeps {
  readonly folder: string;
  readonly documents: Pick<Documents, "plan" | "apply">;
  readonly database: Database;
  readonly log: Logger;
}

type FolderRun = (signal: AbortSignal, confirm: () => Promise<void>) => Promise<void>;
type Report = (subject: string, text: string, reason: string) => void;

const MANAGER = "folder:documents";
const EXTENSIONS = [".yaml", ".yml", ".json"];
const DONE = new Set(["create", "update", "delete"]);

/**
 * Creates a service that applies the documents of a folder, such as mounted ConfigMaps, if they or the resources that
 * they describe have changed. Only one replica runs it, so only that replica reads the Secrets that they refer to.
 */
export function createDocumentFolder({ folder, documents, database, log }: FolderDeps): FolderRun {
  const report = createReport(log);
  return async (_signal, confirm) => {
    const writer = await findRootWriter(database);
    if (!writer) return;
    const found = await readFolder(folder, report);
    const refused = new Map<string, string>();
    const wanted = {
      manager: MANAGER,
      documents: found.documents,
      // The content of an unreadable file is unknown, so nothing is deleted.
      prune: found.isWhole,
      force: false,
      onRefused: ({ metadata }: DeclarativeDocument, { message }: Refusal) => void refused.set(metadata.name, message),
    };
    try {
      let changes = await documents.plan(wanted, writer);
      if (changes.some(({ action }) => DONE.has(action))) {
        await confirm();
        changes = await documents.apply(wanted, writer);
        for (const { kind, name, action } of changes)
          if (DONE.has(action)) log.info("a document was applied", { kind, name, action });
      }
      report(folder, "the documents are not applied", "");
      for (const { metadata } of found.documents)
        report(metadata.name, "a document is refused", refused.get(metadata.name) ?? "");
      for (const { kind, name, message } of changes)
        report(`${kind}/${name}`, "a document is not applied as written", message);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      report(folder, "the documents are not applied", error.message);
    }
  };
}

/** Logs each message once until it changes, because the folder is read repeatedly. */
function createReport(log: Logger): Report {
  const said = new Map<string, string>();
  return (subject, text, reason) => {
    if ((said.get(subject) ?? "") === reason) return;
    said.set(subject, reason);
    if (reason !== "") log.warn(text, { subject, reason });
  };
}

/** Reads the folder and its subfolders, because each ConfigMap is mounted in its own. */
async function readFolder(folder: string, report: Report) {
  const documents: DeclarativeDocument[] = [];
  let isWhole = true;
  const say = (file: string, reason: string) => report(file, "a file of documents is not used", reason);
  for (const file of await listFiles(folder)) {
    try {
      documents.push(...parse(await readFile(file, "utf8")));
      say(file, "");
    } catch (error) {
      isWhole = false;
      // Only the first line is logged, because the others quote the file.
      say(file, describeError(error).split("\n", 1)[0] ?? "");
    }
  }
  return { documents, isWhole };
}

/** Skips names that begin with two dots: Kubernetes uses them to replace a mounted folder in one step. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const visible = entries.filter(({ name }) => !name.startsWith("..")).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const files = await Promise.all(
    visible.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return listFiles(path);
      return EXTENSIONS.includes(extname(entry.name)) ? [path] : [];
    }),
  );
  return files.flat();
}

function parse(text: string): DeclarativeDocument[] {
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw error;
    const value: unknown = document.toJS();
    const all = Array.isArray(value) ? (value as unknown[]) : value === null ? [] : [value];
    return all.map(readDocument);
  });
}

/** Returns the first root account, which is recorded as the author of the changes; undefined while there is none. */
async function findRootWriter({ db }: Database): Promise<Writer | undefined> {
  const root = await db
    .selectFrom("users")
    .select(["id", "username"])
    .where("role", "=", ROLE.root)
    .where("deleted_at", "is", null)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return root && { userId: root.id, username: root.username, ip: "" };
}
