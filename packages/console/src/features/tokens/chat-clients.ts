import type { Status, Token } from "@fairway/wire";
import { baseAddress } from "../../ui/content/connection.ts";
import { appAddress } from "../../shared/connect/chat-address.ts";

interface ChatClient {
  readonly name: string;
  readonly address: string;
}

type Links = Pick<Status, "chats" | "chat_link" | "chat_link2" | "server_address">;

/** Returns the chat clients that open with a token: the operator's two links, and the list of further clients. */
export function chatClients(status: Links, token: Token): readonly ChatClient[] {
  const access = { key: token.key, address: baseAddress(status.server_address) };
  const named = [
    ["Next Web", status.chat_link],
    ["Next Midjourney", status.chat_link2],
    ...status.chats.flatMap((entry) => Object.entries(entry)),
  ] as const;
  return named.flatMap(([name, link]) => {
    const address = link === "" ? undefined : appAddress(link, access);
    return address === undefined ? [] : [{ name, address }];
  });
}
