// Writes a tar archive whose bytes depend only on the files: sorted names, one time, owners and modes by rule.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

const BLOCK = 512;
const NAME_BYTES = 100;
const TYPES = { file: "0", link: "2", folder: "5" } as const;

interface Entry {
  readonly type: keyof typeof TYPES;
  readonly mode: number;
  readonly owner: number;
  readonly linkTarget: string;
  readonly bytes: Buffer;
}

/** Folders that differ from the rule: mode and owner by path. */
export type Exceptions = Readonly<Record<string, { readonly mode: number; readonly owner: number }>>;

/** Archives the files of a folder, owned by root; files that their owner may execute are executable for everyone. */
export function tarFolder(folder: string, exceptions: Exceptions = {}): Buffer {
  const paths = pathsBelow(folder, "").toSorted();
  return tar(paths.map((path) => [path, readEntry(join(folder, path), exceptions[path])]));
}

/** Node's own recursive reading would follow links to folders. */
function pathsBelow(folder: string, start: string): string[] {
  return readdirSync(join(folder, start), { withFileTypes: true }).flatMap((found) => {
    const path = join(start, found.name);
    return found.isDirectory() ? [path, ...pathsBelow(folder, path)] : [path];
  });
}

export function tarFiles(files: Readonly<Record<string, Buffer>>): Buffer {
  const names = Object.keys(files).toSorted();
  return tar(
    names.map((name) => [name, { type: "file", mode: 0o644, owner: 0, linkTarget: "", bytes: files[name] as Buffer }]),
  );
}

function readEntry(path: string, exception: Exceptions[string] | undefined): Entry {
  const stat = lstatSync(path);
  const owner = exception?.owner ?? 0;
  const none = Buffer.alloc(0);
  if (stat.isSymbolicLink()) return { type: "link", mode: 0o777, owner, linkTarget: readlinkSync(path), bytes: none };
  if (stat.isDirectory()) return { type: "folder", mode: exception?.mode ?? 0o755, owner, linkTarget: "", bytes: none };
  const mode = exception?.mode ?? (stat.mode & 0o100 ? 0o755 : 0o644);
  return { type: "file", mode, owner, linkTarget: "", bytes: readFileSync(path) };
}

function tar(entries: readonly (readonly [path: string, entry: Entry])[]): Buffer {
  const parts = entries.flatMap(([path, entry]) => [
    header(entry.type === "folder" ? `${path}/` : path, entry),
    entry.bytes,
    Buffer.alloc(-entry.bytes.length & (BLOCK - 1)),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

/** Returns a POSIX ustar header. */
function header(path: string, { type, mode, owner, linkTarget, bytes }: Entry): Buffer {
  const block = Buffer.alloc(BLOCK);
  const [prefix, name] = splitName(path);
  const octal = (value: number, at: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  if (Buffer.byteLength(linkTarget) > NAME_BYTES) throw new Error(`${path}: the target of the link is too long`);
  block.write(name, 0);
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(bytes.length, 124, 12);
  octal(0, 136, 12);
  block.write("        ", 148);
  block.write(TYPES[type], 156);
  block.write(linkTarget, 157);
  block.write("ustar\u000000", 257, "latin1");
  block.write(prefix, 345);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}

/** Stores a path of more than 100 bytes as two parts, cut at a slash. */
function splitName(path: string): [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= NAME_BYTES) return ["", path];
  for (let cut = path.indexOf("/"); cut >= 0; cut = path.indexOf("/", cut + 1)) {
    const [prefix, name] = [path.slice(0, cut), path.slice(cut + 1)];
    if (name && Buffer.byteLength(name) <= NAME_BYTES && Buffer.byteLength(prefix) <= 155) return [prefix, name];
  }
  throw new Error(`${path}: the path is too long for an archive`);
}
