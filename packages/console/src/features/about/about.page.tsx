import { about, ROLE } from "@fairway/wire";
import { Box, Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { contentKind } from "../../lib/text/content.ts";
import { call } from "../../lib/http.ts";
import { queryKeys } from "../../lib/query-keys.ts";
import { FRESH_STATIC_MS } from "../../lib/query.ts";
import { Content } from "../../ui/content/content.tsx";
import { EmptyTeach, LoadFailed } from "../../ui/feedback/empty.tsx";
import { Placeholder } from "../../ui/feedback/placeholder.tsx";
import { Page } from "../../ui/display/page.tsx";
import { useTexts } from "./texts.ts";

function Nothing() {
  const t = useTexts();
  const { system_name: name } = useStatus();
  const isRoot = (useUser()?.role ?? ROLE.guest) >= ROLE.root;
  return (
    <EmptyTeach icon="info" title={t("emptyTitle", { name })} body={t("emptyBody")}>
      {isRoot && (
        <Button asChild>
          <Link to="/setting?tab=other">{t("write")}</Link>
        </Button>
      )}
    </EmptyTeach>
  );
}

/** The operator's page about this gateway. */
export function AboutPage() {
  const t = useTexts();
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.content.about,
    queryFn: ({ signal }) => call(about, { signal }),
    staleTime: FRESH_STATIC_MS,
  });
  const text = data?.trim();
  const isFramed = text !== undefined && contentKind(text) === "frame";
  return (
    <Page title={t("title")} width={isFramed ? "full" : "form"}>
      {error && text === undefined && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {!error && text === undefined && <Placeholder height={200} />}
      {text === "" && <Nothing />}
      {text && isFramed && <Content text={text} title={t("title")} />}
      {text && !isFramed && (
        <Box bg="bg.panel" borderWidth="1px" borderRadius="l3" px={{ base: "4", sm: "6" }} py="5">
          <Content text={text} title={t("title")} />
        </Box>
      )}
    </Page>
  );
}
