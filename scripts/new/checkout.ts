// Edits the checkout: adds new files, and lines to registries. A registry without the expected place is an error.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../bootstrap.mjs";

/** Records the written paths, in order. */
export class Checkout {
  readonly created: string[] = [];
  readonly changed: string[] = [];

  create(path: string, text: string): void {
    const file = join(ROOT, path);
    if (existsSync(file)) throw new Error(`${path} exists already`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    this.created.push(path);
  }

  append(path: string, line: string): void {
    this.#write(path, this.read(path) + line);
  }

  /** Adds text before the first place that matches. */
  insertBefore(path: string, place: RegExp, text: string): void {
    this.#insert(path, place, (found) => text + found);
  }

  insertAfter(path: string, place: RegExp, text: string): void {
    this.#insert(path, place, (found) => found + text);
  }

  read(path: string): string {
    return readFileSync(join(ROOT, path), "utf8");
  }

  #insert(path: string, place: RegExp, replace: (found: string) => string): void {
    const text = this.read(path);
    if (!place.test(text)) throw new Error(`${path} has no place that matches ${String(place)}: add the line by hand`);
    this.#write(path, text.replace(place, replace));
  }

  #write(path: string, text: string): void {
    writeFileSync(join(ROOT, path), text);
    if (!this.changed.includes(path)) this.changed.push(path);
  }
}
