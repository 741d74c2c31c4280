import { TOKEN_STATUS, tokenList, type Token } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useStatus } from "../../session/status.ts";
import { readRows } from "../../lib/rows.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { baseAddress } from "../../ui/content/connection.ts";
import { chatAddress } from "../../shared/connect/chat-address.ts";

/** Returns the caller's newest usable token, and the chat link with that token in it. */
export function useChatAccess(link: string, isOn: boolean) {
  const { server_address: server } = useStatus();
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.tokens.newest,
    queryFn: ({ signal }) => readRows(tokenList, { query: { p: 0, size: 1, status: TOKEN_STATUS.enabled }, signal }),
    enabled: isOn,
  });
  const token: Token | undefined = data?.rows[0];
  return {
    token,
    address: token && chatAddress(link, { key: token.key, address: baseAddress(server) }),
    isMissing: data !== undefined && token === undefined,
    problem: data === undefined ? error : null,
    retry: () => void refetch(),
  };
}
