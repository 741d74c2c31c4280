import { Button, Flex, SimpleGrid, Skeleton, Stack, Text } from "@chakra-ui/react";
import { ROLE, type User } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "react-router";
import { useUrlState } from "../../../lib/url-state.ts";
import { useUser } from "../../../session/session.ts";
import { usageOverTimeQuery } from "../../../shared/usage/api.ts";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { usageRangeOf } from "../../../shared/usage/period.ts";
import { RangeChoice } from "../../../shared/usage/range-choice.tsx";
import { SubjectsPanel } from "../../../shared/usage/subjects-panel.tsx";
import { UsageFigures } from "../../../shared/usage/usage-figures.tsx";
import { UsageTrends } from "../../../shared/usage/usage-trends.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { Page } from "../../../ui/display/page.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { useTexts } from "../texts.ts";
import { shownUserQuery } from "./api.ts";
import { AuditPanel } from "./audit-panel.tsx";
import { OrdersPanel } from "./orders-panel.tsx";

const USUAL = "7d";
const DEFAULTS = { range: USUAL };

function Shown({ user }: { readonly user: User }) {
  const t = useTexts();
  const navigate = useNavigate();
  const isRoot = (useUser()?.role ?? 0) >= ROLE.root;
  const [state, change] = useUrlState(DEFAULTS);
  const range = usageRangeOf(state.range);
  const asked = { range, isOwn: false, userId: user.id } as const;
  const { data, error, refetch } = useQuery(usageOverTimeQuery({ ...asked, by: "all", subject: "" }));
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
        <Button asChild>
          <Link to={`/user/edit/${user.id}`}>{t("editRow")}</Link>
        </Button>
      }
    >
      <Flex justify="flex-end" mb="3">
        <RangeChoice range={range} choose={(next) => change({ range: next })} />
      </Flex>
      {error && !data ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <>
          <UsageFigures usage={data} />
          {data ? (
            <UsageTrends
              usage={data}
              onOpen={(span, isErrors) => void navigate(logAddress({ span, isErrors, user: name }))}
            />
          ) : (
            <Skeleton height="252px" mb="3" borderRadius="l3" aria-busy="true" />
          )}
        </>
      )}
      <SimpleGrid columns={{ base: 1, lg: 2 }} gap="3" alignItems="start">
        <Stack gap="3" minW="0">
          <SubjectsPanel
            title={t("ownTokens")}
            asked={{ ...asked, by: "token" }}
            partOf={(_, token) => ({ user: name, token })}
          />
          <OrdersPanel id={user.id} />
        </Stack>
        <Stack gap="3" minW="0">
          <SubjectsPanel
            title={t("ownModels")}
            asked={{ ...asked, by: "model" }}
            partOf={(model) => ({ user: name, model })}
          />
          {isRoot && <AuditPanel id={user.id} />}
        </Stack>
      </SimpleGrid>
    </Page>
  );
}

/** One user: usage with tokens and models, orders, and what the user changed. */
export function UserPage() {
  const t = useTexts();
  const id = Number(useParams()["id"]);
  const { data, error, refetch } = useQuery(shownUserQuery(id));
  if (data) return <Shown user={data} />;
  return (
    <Page title={t("title")}>
      {error ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height="160px" borderRadius="l3" aria-busy="true" />
      )}
    </Page>
  );
}
