import { AppError } from "../../lib/app-error.ts";
import type { Caller } from "../../identity/authentication/caller.ts";

/** The sockets of this process. A socket costs memory even while it is silent. */
export interface OpenSockets {
  /** Counts a socket until the result is called. Throws `overloaded` and `concurrency_limit_exceeded`. */
  open(caller: Pick<Caller, "tokenId" | "userId">, perToken: number): () => void;
}

const RETRY_MS = 5_000;

/** `most` and the limit per token are off at 0. */
export function createOpenSockets(most: number): OpenSockets {
  const byToken = new Map<string, number>();
  let all = 0;
  return {
    open({ tokenId, userId }, perToken) {
      const owner = tokenId === 0 ? `user ${userId}` : `token ${tokenId}`;
      const own = byToken.get(owner) ?? 0;
      if (most > 0 && all >= most) throw new AppError("overloaded", { retryAfterMs: RETRY_MS });
      if (perToken > 0 && own >= perToken) throw tooMany(perToken);
      all++;
      byToken.set(owner, own + 1);
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        all--;
        const left = (byToken.get(owner) ?? 1) - 1;
        if (left === 0) byToken.delete(owner);
        else byToken.set(owner, left);
      };
    },
  };
}

function tooMany(limit: number): AppError {
  const message = `This key has ${limit} sockets open, which is its limit; close one of them first.`;
  return new AppError("concurrency_limit_exceeded", { message, retryAfterMs: RETRY_MS });
}
