import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { findPublicUrl, type ObjectDeps } from "./object-call.ts";
import { describeAttachment } from "./stored-files.ts";

function find(remoteAddress: string, known?: string): string | undefined {
  const request = { socket: { remoteAddress, localPort: 3000 }, headers: { host: "evil.example" } };
  return findPublicUrl({ request: request as unknown as IncomingMessage }, { publicUrl: () => known } as ObjectDeps);
}

// @weakness Network: A forged Host header makes the gateway hand out addresses of another server, to which clients then upload
describe("the address that answers contain", () => {
  it("is the operator's, or that of this machine for its own clients, and never from a header", () => {
    expect(find("203.0.113.9", "https://ai.example.com")).toBe("https://ai.example.com");
    expect(find("127.0.0.1")).toBe("http://127.0.0.1:3000");
    expect(find("::ffff:127.0.0.1")).toBe("http://127.0.0.1:3000");
    expect(find("203.0.113.9")).toBeUndefined();
  });
});

describe("the name of a download", () => {
  it.each([
    ["a.pdf", `attachment; filename="a.pdf"; filename*=UTF-8''a.pdf`],
    ["Prüfung 1.pdf", `attachment; filename="Pr_fung 1.pdf"; filename*=UTF-8''Pr%C3%BCfung%201.pdf`],
    [
      'x"\r\nset-cookie: a=b',
      `attachment; filename="x___set-cookie_ a_b"; filename*=UTF-8''x%22%0D%0Aset-cookie%3A%20a%3Db`,
    ],
    ["", "attachment"],
  ])("%j cannot leave its header", (name, header) => {
    expect(describeAttachment(name)).toBe(header);
  });
});
