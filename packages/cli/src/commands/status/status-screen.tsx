import type { Client } from "@fairway/wire";
import { Box, Text, useApp, useInput } from "ink";
import { useEffect, useState } from "react";
import { formatErrorMessage } from "../../core/problem.ts";
import { poll } from "../../terminal/poll.ts";
import { drawScreen } from "../../terminal/screen.tsx";
import { loadOverview, rateText, type Overview } from "./overview.ts";

interface ScreenProps {
  readonly client: Client;
  readonly server: string;
  readonly intervalMs: number;
}

/** Draws until the user presses `q`, Escape or Ctrl-C. */
export async function showStatus(props: ScreenProps): Promise<void> {
  await drawScreen(<StatusScreen {...props} />, {});
}

function StatusScreen({ client, server, intervalMs }: ScreenProps) {
  const { exit } = useApp();
  const [overview, setOverview] = useState<Overview>();
  const [problem, setProblem] = useState("");
  useInput((input, key) => {
    if (input === "q" || key.escape) exit();
  });
  useEffect(() => {
    const closing = new AbortController();
    void poll(closing.signal, intervalMs, async () => {
      try {
        setOverview(await loadOverview(client, server, closing.signal));
        setProblem("");
      } catch (error) {
        if (!closing.signal.aborted) setProblem(formatErrorMessage(error));
      }
    });
    return () => closing.abort();
  }, [client, server, intervalMs]);
  return (
    <Box flexDirection="column">
      {overview ? <Facts overview={overview} /> : <Text>Asking {server} …</Text>}
      {problem !== "" && <Text color="red">! {problem}</Text>}
      <Text dimColor>q quit · every {Math.round(intervalMs / 1000)} s</Text>
    </Box>
  );
}

function Facts({ overview }: { readonly overview: Overview }) {
  const { channels } = overview;
  return (
    <Box flexDirection="column">
      <Text bold>
        {overview.name} {overview.version} <Text dimColor>{overview.server}</Text>
      </Text>
      <Text>
        {overview.user} · balance {overview.balance}
      </Text>
      <Text>last minute {rateText(overview)}</Text>
      {channels && (
        <Text>
          channels <Text color="green">▲ {channels.enabled} enabled</Text> □ {channels.disabled} disabled{" "}
          <Text color="red">■ {channels.autoDisabled} auto-disabled</Text>
        </Text>
      )}
    </Box>
  );
}
