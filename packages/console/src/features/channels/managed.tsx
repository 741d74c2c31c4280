import { declarativeManaged, type Channel } from "@fairway/wire";
import { Box } from "@chakra-ui/react";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { useTexts } from "./texts.ts";

interface Manager {
  readonly owner: string;
  readonly fields: readonly string[];
}

/** By the id of the channel. Documents change seldom, and a refused save says the same. */
const managedQuery = queryOptions({
  queryKey: queryKeys.channels.managed,
  queryFn: async ({ signal }): Promise<ReadonlyMap<number, Manager>> => {
    const all = await call(declarativeManaged, { signal });
    const own = all.filter(({ kind }) => kind === "Channel");
    return new Map(own.map(({ resource_id, owner, fields }) => [resource_id, { owner, fields }]));
  },
});

function useManager({ id }: Pick<Channel, "id">): Manager | undefined {
  return useQuery(managedQuery).data?.get(id);
}

/** In the list: where the channel is described. */
export function ManagedTag({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  const manager = useManager(channel);
  if (!manager) return null;
  const title = t("managedBy", { owner: manager.owner });
  return (
    <span className="group-tag managed-tag" title={title} aria-label={title} role="img">
      {t("managedTag")}
    </span>
  );
}

/** In the form: which fields a document owns, so that a save of them is refused. */
export function ManagedNote({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  const manager = useManager(channel);
  if (!manager) return null;
  const fields = manager.fields.filter((field) => field !== "type").join(", ");
  return (
    <Box role="note" borderRadius="l3" px="4" py="3" bg="bg.muted" overflowWrap="anywhere">
      {t("managedNote", { owner: manager.owner, fields })}
      {manager.fields.includes("enabled") && ` ${t("managedSwitch")}`}
    </Box>
  );
}
