import { Box, Button, Flex, Heading, Text } from "@chakra-ui/react";
import type { ReactNode } from "react";
import { Link, useRouteError } from "react-router";
import { OfflineProblem } from "../../lib/problems.ts";
import { CopyButton } from "../../ui/content/copy-button.tsx";
import { Icon, type IconName } from "../../ui/display/icon.tsx";
import { useTexts } from "../../shared/texts.ts";
import type { FailedProps } from "../../ui/late/late.tsx";

function Notice(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly body: string;
  readonly children?: ReactNode;
}) {
  return (
    <Flex direction="column" align="center" textAlign="center" gap="3" px="6" py="24">
      <Box color="fairway.fg">
        <Icon name={props.icon} size={36} />
      </Box>
      <Heading as="h1" textStyle="xl" fontWeight="semibold">
        {props.title}
      </Heading>
      <Text color="fg.muted" maxW="32rem">
        {props.body}
      </Text>
      <Flex gap="2" mt="2">
        {props.children}
      </Flex>
    </Flex>
  );
}

function HomeLink() {
  const t = useTexts();
  return (
    <Button asChild variant="outline">
      <Link to="/">{t("toOverview")}</Link>
    </Button>
  );
}

export function NotFound() {
  const t = useTexts();
  return (
    <Notice icon="search" title={t("notFoundTitle")} body={t("notFoundBody")}>
      <HomeLink />
    </Notice>
  );
}

export function NoAccess(props: { readonly to: "admin" | "root" }) {
  const t = useTexts();
  const body = t(props.to === "root" ? "noAccessRoot" : "noAccessBody");
  return (
    <Notice icon="warning" title={t("noAccessTitle")} body={body}>
      <HomeLink />
    </Notice>
  );
}

/** The page's code did not load; the address and the state of other pages stay as they are. */
export function PageFailed({ retry }: FailedProps) {
  const t = useTexts();
  return (
    <Notice icon="warning" title={t("pageFailed")} body={t("pageFailedBody")}>
      <Button onClick={retry}>{t("retry")}</Button>
      <Button variant="outline" onClick={() => location.reload()}>
        {t("reload")}
      </Button>
      <HomeLink />
    </Notice>
  );
}

function buildReport(problem: unknown): string {
  const text = problem instanceof Error ? (problem.stack ?? problem.message) : String(problem);
  return [
    `Page: ${location.pathname}`,
    `Time: ${new Date().toISOString()}`,
    `Browser: ${navigator.userAgent}`,
    text,
  ].join("\n");
}

/** A page that threw, inside the frame; the rest of the console keeps working. */
export function Crash() {
  const t = useTexts();
  const problem = useRouteError();
  return (
    <Notice icon="warning" title={t("crashTitle")} body={t("crashBody")}>
      <Button onClick={() => location.reload()}>{t("retry")}</Button>
      <CopyButton text={buildReport(problem)} label={t("copyReport")}>
        {t("copyReport")}
      </CopyButton>
      <HomeLink />
    </Notice>
  );
}

/** The whole console could not start: the server is unreachable, or something is broken at the root. */
export function StartFailed() {
  const t = useTexts();
  const problem = useRouteError();
  const isAway = problem instanceof OfflineProblem;
  return (
    <Notice
      icon="warning"
      title={t(isAway ? "startFailed" : "crashTitle")}
      body={t(isAway ? "startFailedBody" : "crashBody")}
    >
      <Button onClick={() => location.reload()}>{t("retry")}</Button>
      {!isAway && (
        <CopyButton text={buildReport(problem)} label={t("copyReport")}>
          {t("copyReport")}
        </CopyButton>
      )}
    </Notice>
  );
}
