/** One part of a multipart body. */
export interface FormPart {
  readonly name: string;
  readonly contentType: string | undefined;
  readonly data: Buffer;
}

const HEAD_END = Buffer.from("\r\n\r\n");

/** Returns the parts of a whole `multipart/form-data` body; an empty list for any other body. */
export function formParts(body: Buffer, contentType: string): FormPart[] {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  if (!boundary) return [];
  const mark = Buffer.from(`--${boundary[1] ?? boundary[2] ?? ""}`);
  const parts: FormPart[] = [];
  let start = body.indexOf(mark);
  while (start >= 0) {
    const from = start + mark.length;
    const next = body.indexOf(mark, from);
    if (next < 0) break;
    const part = readPart(body.subarray(from + 2, next - 2));
    if (part) parts.push(part);
    start = next;
  }
  return parts;
}

function readPart(bytes: Buffer): FormPart | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const head = bytes.toString("utf8", 0, end);
  const name = /content-disposition:[^\r\n]*\bname="([^"]*)"/i.exec(head)?.[1];
  const contentType = /content-type:\s*([^\r\n]+)/i.exec(head)?.[1];
  return name === undefined ? undefined : { name, contentType, data: bytes.subarray(end + HEAD_END.length) };
}
