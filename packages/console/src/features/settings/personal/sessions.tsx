import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { readUserAgent } from "../../../lib/text/user-agent.ts";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { When } from "../../../ui/display/when.tsx";
import { endOtherSessions, endSession, sessionsQuery } from "../api.ts";
import { useTexts } from "../texts.ts";

/** Shows the program of a session and its system; what it sent is in the tip. */
function ClientName({ userAgent }: { readonly userAgent: string }) {
  const t = useTexts();
  const client = readUserAgent(userAgent);
  if (!client) return "–";
  const { program, system } = client;
  return <bdi title={userAgent}>{system === undefined ? program : t("clientOn", { program, system })}</bdi>;
}

export function Sessions() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(sessionsQuery);
  const sessions = data ?? [];
  const endOthers = () => void endOtherSessions().then(() => toast("success", t("sessionsEnded")), toastProblem);
  return (
    <FormSection
      title={t("sessions")}
      aside={
        sessions.length > 1 && (
          <Button size="xs" variant="outline" onClick={endOthers}>
            {t("endOthers")}
          </Button>
        )
      }
    >
      {error && !data && <LoadFailed problem={error} onRetry={() => void refetch()} />}
      {sessions.map((session) => (
        <Flex key={session.id} align="center" gap="3" wrap="wrap">
          <Text textStyle="sm" fontFamily="mono">
            {session.ip}
          </Text>
          <Text textStyle="sm" color="fg.muted" flex="1" minW="12rem" overflowWrap="anywhere">
            <ClientName userAgent={session.user_agent} /> · {t("lastSeen")} <When at={session.renewed_at} />
          </Text>
          {session.is_current ? (
            <Text textStyle="xs" color="fg.muted">
              {t("thisSession")}
            </Text>
          ) : (
            <Button size="xs" variant="outline" onClick={() => void endSession(session.id).catch(toastProblem)}>
              {t("endSession")}
            </Button>
          )}
        </Flex>
      ))}
    </FormSection>
  );
}
