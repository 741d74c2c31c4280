import type { Logger } from "../../../observability/log.ts";
import { chargeText, readCharge } from "../charge.ts";
import type { Settlement } from "../ledger.ts";
import type { OpenHold } from "./open-holds.ts";
import type { Journal, JournalEntry } from "../journal/journal.ts";
import type { Sender } from "./sender.ts";

export interface SettlementWriterDeps {
  readonly journal: Journal;
  readonly sender: Sender;
  readonly log: Logger;
}

/** The circumstances in which a request ends. */
export interface Closing extends Pick<OpenHold, "isDirect" | "isTight"> {
  readonly onSent: (() => void) | undefined;
}

/** Writes settlements to the journal and passes them to the sender. */
export interface SettlementWriter {
  /**
   * Resolves when the settlement is in the journal and, if the next request may need the unused part of the
   * reservation, on its way to Redis. Without a journal, resolves when the settlement has reached Redis or the
   * database.
   */
  settle(settlement: Settlement, closing: Closing): Promise<void>;
  /** Sends a settlement that an earlier process left in the journal. */
  sendAgain(entry: JournalEntry & { readonly text: string }): void;
  /** Settlements that are not in the journal yet. */
  readonly writing: number;
}

export function createSettlementWriter({ journal, sender, log }: SettlementWriterDeps): SettlementWriter {
  let writing = 0;
  return {
    async settle(settlement, { isDirect, isTight, onSent }) {
      const charge = { settlement };
      const text = chargeText(charge);
      writing += 1;
      try {
        const entry = await journal.append(text);
        sender.push({ charge, text, entry, isDirect, isUrgent: isTight, onSent });
      } catch (error) {
        log.error("the journal cannot be written; settlements wait for Redis", { error });
        const { promise, resolve } = Promise.withResolvers<void>();
        const sent = () => (onSent?.(), resolve());
        sender.push({ charge, text, entry: undefined, isDirect, isUrgent: true, onSent: sent });
        await promise;
      } finally {
        writing -= 1;
      }
    },
    sendAgain(entry) {
      const { text } = entry;
      try {
        sender.push({ charge: readCharge(text), text, entry, isDirect: false, isUrgent: false, onSent: undefined });
      } catch {
        // A crash truncated the line before the request was answered.
        journal.acknowledge(entry, undefined);
      }
    },
    get writing() {
      return writing;
    },
  };
}
