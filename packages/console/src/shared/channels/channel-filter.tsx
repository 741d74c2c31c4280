import { searchAll } from "@fairway/wire";
import { Box } from "@chakra-ui/react";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../../lib/query.ts";
import { PickInput } from "../../ui/form/pick-input.tsx";

/** Finds channels by a part of their name, or by their id. */
function channelHitsQuery(text: string) {
  return queryOptions({
    queryKey: queryKeys.channels.hits(text),
    queryFn: async ({ signal }) =>
      (await call(searchAll, { query: { q: text }, signal })).channels.map(({ id, name }) => ({
        value: String(id),
        label: name,
      })),
    enabled: text !== "",
    staleTime: FRESH_STATIC_MS,
  });
}

/** A filter by one channel, which is chosen by its name; its value is the id. */
export function ChannelFilter(props: {
  readonly label: string;
  readonly value: string;
  readonly width?: string;
  onChange(id: string): void;
}) {
  const { label, value, width = "150px", onChange } = props;
  const [typed, setTyped] = useState<string>();
  const wanted = useDeferredValue((typed ?? value).trim());
  const { data = [] } = useQuery(channelHitsQuery(wanted));
  const change = (text: string) => {
    setTyped(text);
    const id = text.trim();
    // A part of a name chooses nothing yet.
    if (/^\d*$/.test(id)) onChange(id);
  };
  return (
    <Box width={{ base: "calc(50% - 4px)", sm: width }}>
      <PickInput
        label={label}
        placeholder={label}
        value={typed ?? value}
        options={data}
        onChange={change}
        onBlur={() => setTyped(undefined)}
      />
    </Box>
  );
}
