import { Button, SimpleGrid, Stack, Text } from "@chakra-ui/react";
import { ROLE, type User } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { useUser } from "../../../session/session.ts";
import { RowPage } from "../../../shared/row/row-page.tsx";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { SubjectsPanel } from "../../../shared/usage/subjects-panel.tsx";
import { UsageBlock } from "../../../shared/usage/usage-block.tsx";
import { useUsage } from "../../../shared/usage/use-usage.ts";
import { Money } from "../../../ui/display/money.tsx";
import { HistoryButton } from "../../../ui/menu/history-button.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { useTexts } from "../texts.ts";
import { shownUserQuery } from "./api.ts";
import { AuditPanel } from "./audit-panel.tsx";
import { OrdersPanel } from "./orders-panel.tsx";
import { TokensPanel } from "./tokens-panel.tsx";

function Shown({ user }: { readonly user: User }) {
  const t = useTexts();
  const isRoot = (useUser()?.role ?? 0) >= ROLE.root;
  const usage = useUsage({ by: "all", subject: "", isOwn: false, userId: user.id }, "7d");
  const asked = { range: usage.range, isOwn: false, userId: user.id } as const;
  const name = user.username;
  return (
    <Page
      title={name}
      aside={
        <Text color="fg.muted">
          #{user.id} · {user.group} · {t("balanceNow")} <Money quota={user.quota} />
        </Text>
      }
      actions={
        <>
          <RangeChoice range={usage.range} choose={usage.choose} />
          <HistoryButton target={`user ${user.id}`} />
          <Button asChild>
            <Link to={`/user/edit/${user.id}`}>{t("editRow")}</Link>
          </Button>
        </>
      }
    >
      <UsageBlock usage={usage} part={{ user: name }} />
      <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
        <Stack gap="3" minW="0">
          <SubjectsPanel
            title={t("ownTokens")}
            asked={{ ...asked, by: "token" }}
            buildLogPart={(tokenId) => ({ tokenId })}
          />
          <TokensPanel id={user.id} />
          <OrdersPanel id={user.id} />
        </Stack>
        <Stack gap="3" minW="0">
          <SubjectsPanel
            title={t("ownModels")}
            asked={{ ...asked, by: "model" }}
            buildLogPart={(model) => ({ user: name, model })}
          />
          {isRoot && <AuditPanel id={user.id} />}
        </Stack>
      </SimpleGrid>
    </Page>
  );
}

/** Shows one user: usage by token and model, tokens, orders, and the user's changes. */
export function UserPage() {
  const t = useTexts();
  const id = Number(useParams()["id"]);
  const query = useQuery(shownUserQuery(id));
  const missing = {
    key: "user_not_found",
    icon: "users",
    title: t("missingTitle"),
    body: t("missingBody"),
    list: { path: "/user", label: t("allUsers") },
  } as const;
  return (
    <RowPage title={t("title")} id={id} row={query.data} query={query} missing={missing}>
      {(user) => <Shown user={user} />}
    </RowPage>
  );
}
