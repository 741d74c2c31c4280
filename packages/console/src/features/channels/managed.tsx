import { declarativeManaged, type Channel } from "@fairway/wire";
import { Box } from "@chakra-ui/react";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { formatExactTime } from "../../lib/format.ts";
import { call } from "../../lib/http.ts";
import { currentLanguage } from "../../lib/i18n.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { useTexts } from "./texts.ts";

interface Manager {
  readonly owner: string;
  readonly fields: readonly string[];
  /** Unix seconds until which a manual switch applies; 0 = there was none. */
  readonly overrideUntil: number;
}

/** By channel id. Documents seldom change, and a refused save reports the same. */
const managedQuery = queryOptions({
  queryKey: queryKeys.channels.managed,
  queryFn: async ({ signal }): Promise<ReadonlyMap<number, Manager>> => {
    const all = await call(declarativeManaged, { signal });
    const own = all.filter(({ kind }) => kind === "Channel");
    return new Map(
      own.map(({ resource_id, owner, fields, override_until }) => [
        resource_id,
        { owner, fields, overrideUntil: override_until },
      ]),
    );
  },
});

function useManager({ id }: Pick<Channel, "id">): Manager | undefined {
  return useQuery(managedQuery).data?.get(id);
}

/** In the list: shows which document describes the channel. */
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

/** In the form: shows which fields a document owns, so that saving them is refused. */
export function ManagedNote({ channel }: { readonly channel: Channel }) {
  const t = useTexts();
  const manager = useManager(channel);
  if (!manager) return null;
  const fields = manager.fields.filter((field) => field !== "type").join(", ");
  return (
    <Box role="note" borderRadius="l3" px="4" py="3" bg="bg.muted" overflowWrap="anywhere">
      {t("managedNote", { owner: manager.owner, fields })}
      {manager.fields.includes("enabled") && ` ${switchText(manager, t)}`}
    </Box>
  );
}

function switchText({ overrideUntil }: Manager, t: ReturnType<typeof useTexts>): string {
  if (overrideUntil === 0) return t("managedSwitch");
  return t("managedOverride", { time: formatExactTime(overrideUntil, currentLanguage()) });
}
