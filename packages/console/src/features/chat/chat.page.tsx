import { Button, Text } from "@chakra-ui/react";
import { ROLE } from "@fairway/wire";
import { useEffect } from "react";
import { Link, useNavigate } from "react-router";
import { useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { FRAME_RIGHTS } from "../../ui/content/content.tsx";
import "../../ui/content/content.css";
import { EmptyTeach, LoadFailed } from "../../ui/feedback/empty.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { Page } from "../../ui/display/page.tsx";
import { useChatAccess } from "./access.ts";
import { useTexts } from "./texts.ts";

/** Time to read why the page changes. */
const READ_MS = 1_500;

function NoToken() {
  const t = useTexts();
  const navigate = useNavigate();
  useEffect(() => {
    const timer = setTimeout(() => void navigate("/token"), READ_MS);
    return () => clearTimeout(timer);
  }, [navigate]);
  return (
    <EmptyTeach icon="key" title={t("title")} body={t("noToken")}>
      <Button asChild>
        <Link to="/token/add">{t("addToken")}</Link>
      </Button>
    </EmptyTeach>
  );
}

function Outside(props: { readonly address: string }) {
  const t = useTexts();
  return (
    <Button asChild variant="outline">
      <a href={props.address} target="_blank" rel="noopener noreferrer">
        <Icon name="external" />
        {t("outside")}
      </a>
    </Button>
  );
}

function Chat() {
  const t = useTexts();
  const { chat_link: link } = useStatus();
  const isRoot = (useUser()?.role ?? ROLE.guest) >= ROLE.root;
  const { token, address, isMissing, problem, retry } = useChatAccess(link, link !== "");
  const isFramed = address?.startsWith("https://") ?? false;
  return (
    <Page
      title={t("title")}
      aside={
        token && (
          <Text textStyle="sm" color="fg.muted">
            {t("with", { name: token.name })}
          </Text>
        )
      }
      actions={address && isFramed && <Outside address={address} />}
    >
      {problem && <LoadFailed problem={problem} onRetry={retry} />}
      {isMissing && <NoToken />}
      {(link === "" || (token && address === undefined)) && (
        <EmptyTeach icon="chat" title={t("noLinkTitle")} body={t("noLink")}>
          {isRoot && (
            <Button asChild>
              <Link to="/setting?tab=operation&section=general#option-ChatLink">{t("setLink")}</Link>
            </Button>
          )}
        </EmptyTeach>
      )}
      {address && !isFramed && (
        <EmptyTeach icon="external" title={t("plainTitle")} body={t("plainBody")}>
          <Outside address={address} />
        </EmptyTeach>
      )}
      {address && isFramed && (
        <iframe
          className="site-frame"
          title={t("title")}
          src={address}
          sandbox={FRAME_RIGHTS}
          allow="clipboard-write"
          referrerPolicy="no-referrer"
        />
      )}
    </Page>
  );
}

/** The operator's chat client, with a token of the user. */
export function ChatPage() {
  const t = useTexts();
  if (useUser()) return <Chat />;
  return (
    <Page title={t("title")}>
      <EmptyTeach icon="chat" title={t("signInTitle")} body={t("signInBody")}>
        <Button asChild>
          <Link to="/login?next=%2Fchat">{t("signIn")}</Link>
        </Button>
      </EmptyTeach>
    </Page>
  );
}
