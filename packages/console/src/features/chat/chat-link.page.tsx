import { Text } from "@chakra-ui/react";
import { useEffect } from "react";
import { useNavigate } from "react-router";
import { useStatus } from "../../session/status.ts";
import { EmptyTeach, LoadFailed } from "../../ui/feedback/empty.tsx";
import { Page } from "../../ui/display/page.tsx";
import { toast } from "../../ui/feedback/toaster.ts";
import { useChatAccess } from "./access.ts";
import { useTexts } from "./texts.ts";

/** Time to read why the page changes. */
const READ_MS = 1_500;

/** Redirects to the operator's other chat client, with a token of the user. */
export function ChatLinkPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { chat_link2: link } = useStatus();
  const { token, address, isMissing, problem, retry } = useChatAccess(link, link !== "");
  useEffect(() => {
    if (address !== undefined) location.replace(address);
  }, [address]);
  useEffect(() => {
    if (!isMissing) return;
    toast("error", t("noTokenForLink"));
    const timer = setTimeout(() => void navigate("/token"), READ_MS);
    return () => clearTimeout(timer);
  }, [isMissing, navigate, t]);
  const isLost = link === "" || (token !== undefined && address === undefined);
  return (
    <Page title={t("title")}>
      {problem && <LoadFailed problem={problem} onRetry={retry} />}
      {isLost && <EmptyTeach icon="chat" title={t("noLinkTitle")} body={t("noLink")} />}
      {!problem && !isLost && <Text color="fg.muted">{t(isMissing ? "noTokenForLink" : "leaving")}</Text>}
    </Page>
  );
}
