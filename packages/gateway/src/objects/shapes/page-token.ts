import { invalidRequest } from "../../lib/app-error.ts";
import type { StoredObject } from "../stored-object.ts";

/** A place in a list that survives the deletion of the row it names. It holds nothing that its reader does not know. */
export function writePageToken({ createdAt, id }: Pick<StoredObject, "createdAt" | "id">): string {
  return Buffer.from(`${createdAt}.${id}`).toString("base64url");
}

const FORM = /^(\d{1,15})\.([\w-]{1,128})$/;

/** Throws `invalid_request` for texts that are no token of this gateway. */
export function readPageToken(token: string, param: string): { readonly createdAt: number; readonly id: string } {
  const found = FORM.exec(Buffer.from(token, "base64url").toString("latin1"));
  if (!found) throw invalidRequest(param, `${param} is not a token of an earlier page.`);
  return { createdAt: Number(found[1]), id: found[2] ?? "" };
}

/** Reads a whole number between bounds; throws `invalid_request` for anything else. */
export function readCount(text: string | null, param: string, bounds: { max: number; fallback: number }): number {
  if (text === null || text === "") return bounds.fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > bounds.max) throw invalidRequest(param, `${param} must be between 1 and ${bounds.max}.`);
  return value;
}
