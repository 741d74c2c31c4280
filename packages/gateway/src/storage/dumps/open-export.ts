import { open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { createReadStream } from "node:fs";
import { openForeignFile, type ForeignDatabase } from "../foreign.ts";
import { DumpError, type DumpDialect } from "./literals.ts";
import { loadDump, type DumpLoad } from "./load.ts";

interface ExportFile extends Pick<DumpLoad, "path" | "wants" | "maxBytes" | "signal"> {
  /** Where a dump becomes a database; the caller removes it. */
  readonly scratch: string;
}

const HEAD_BYTES = 16 * 1024;
const SQLITE = "SQLite format 3\0";
const POSTGRES_ARCHIVE = "PGDMP";

/**
 * Opens a database export: an SQLite file, or a dump of MySQL, MariaDB or PostgreSQL as SQL, also compressed. Throws a
 * DumpError that says what the file is instead.
 */
export async function openExport(file: ExportFile): Promise<ForeignDatabase> {
  const raw = await readHead(file.path);
  const isCompressed = raw[0] === 0x1f && raw[1] === 0x8b;
  const head = isCompressed ? await readUnpackedHead(file.path) : raw;
  const text = head.toString("latin1");
  if (text.startsWith(SQLITE)) {
    if (isCompressed) throw new DumpError("this is a compressed SQLite file: unpack it first");
    return openForeignFile(file.path);
  }
  if (text.startsWith(POSTGRES_ARCHIVE))
    throw new DumpError("this is an archive of pg_dump: make the dump with --format=plain");
  const dialect = findDialect(text);
  if (!dialect)
    throw new DumpError("it is no SQLite file, and no dump of mysqldump, mariadb-dump or pg_dump --format=plain");
  await loadDump({ ...file, dialect, isCompressed }, file.scratch);
  return openForeignFile(file.scratch);
}

function findDialect(head: string): DumpDialect | undefined {
  if (/^-- (?:MySQL|MariaDB) dump|^\/\*M?!\d+/m.test(head)) return "mysql";
  if (/^-- PostgreSQL database dump/m.test(head)) return "postgres";
  if (/^(?:CREATE TABLE|INSERT INTO|DROP TABLE IF EXISTS) `/m.test(head)) return "mysql";
  return /^(?:CREATE TABLE|COPY|INSERT INTO) (?:public\.|")/m.test(head) ? "postgres" : undefined;
}

async function readHead(path: string): Promise<Buffer> {
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

async function readUnpackedHead(path: string): Promise<Buffer> {
  const source = createReadStream(path, { end: HEAD_BYTES });
  const unpacked = source.pipe(createGunzip());
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) return chunk;
  } catch (cause) {
    throw new DumpError("the compressed file is damaged", { cause });
  } finally {
    source.destroy();
    unpacked.destroy();
  }
  return Buffer.alloc(0);
}
