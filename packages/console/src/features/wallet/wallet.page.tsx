import { ROLE, type User } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { useSelfQuery } from "../../session/self.ts";
import { isAdmin, getRole, useUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { formatCount, formatQuota } from "../../lib/format.ts";
import { useLanguage } from "../../lib/i18n.ts";
import { HttpProblem, OfflineProblem } from "../../lib/problems.ts";
import { useForm } from "../../lib/use-form.ts";
import { OwnBudgets, useOwnBudgets } from "../../shared/budgets/own-budgets.tsx";
import { usageTotalQuery } from "../../shared/usage/api.ts";
import { LoadFailed, Loading } from "../../ui/feedback/empty.tsx";
import { TextField } from "../../ui/form/field.tsx";
import { FormSection } from "../../ui/form/form-drawer.tsx";
import { Icon } from "../../ui/display/icon.tsx";
import { Money, useQuotaDisplay } from "../../ui/display/money.tsx";
import { Page } from "../../ui/display/page.tsx";
import { problemText, toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { batchReserveQuery, redeem } from "./api.ts";
import { Figure } from "./figure.tsx";
import { Invitations } from "./invitations.tsx";
import { Orders } from "./orders.tsx";
import { PayOnline } from "./pay-online.tsx";
import { useTexts } from "./texts.ts";

/** The balance of the signed-in account, the budgets that limit it, and the ways to raise it. */
export function WalletPage() {
  const t = useTexts();
  const { data: self, error, refetch } = useSelfQuery();
  const budgets = useOwnBudgets();
  return (
    <Page
      title={t("title")}
      width="form"
      actions={
        <Flex gap="4">
          <Link className="link" to="/my-budget">
            {t("budgets")}
          </Link>
          <Link className="link" to="/log?type=1&range=custom">
            {t("history")}
          </Link>
        </Flex>
      }
    >
      {self && !budgets.isLoading ? (
        <Flex direction="column" gap="5">
          <Balance self={self} />
          <OwnBudgets query={budgets} />
          <PayOnline />
          <Orders />
          <Invitations self={self} />
        </Flex>
      ) : error ? (
        <LoadFailed problem={error} onRetry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </Page>
  );
}

/** Links to the shop for redemption codes; if no link is set, administrators get a note. */
function TopUpLink() {
  const t = useTexts();
  const { top_up_link: link } = useStatus();
  const user = useUser();
  if (link !== "") {
    return (
      <Button asChild size="sm" variant="outline">
        <a href={link} target="_blank" rel="noreferrer">
          {t("getCode")}
          <Icon name="external" />
        </a>
      </Button>
    );
  }
  if (!isAdmin(user)) return null;
  return (
    <Text textStyle="sm" color="fg.muted">
      {t("noTopUpLink")}{" "}
      {getRole(user) >= ROLE.root && (
        <Link className="link" to="/setting?tab=operation&section=general">
          {t("setTopUpLink")}
        </Link>
      )}
    </Text>
  );
}

/** Returns true if the server is unreachable or broken; any other error is an answer with a text of its own. */
function isException(problem: unknown): boolean {
  return problem instanceof OfflineProblem || (problem instanceof HttpProblem && problem.status >= 500);
}

/** Shows all calls, including failed and refused ones, like the overview, but with a query of its own. */
function RequestsFigure() {
  const t = useTexts();
  const language = useLanguage();
  const { data, error } = useQuery(usageTotalQuery({ by: "all", subject: "", isOwn: true, range: "7d" }));
  const text = data ? formatCount(data.calls, language) : error ? "–" : "…";
  return <Figure label={t("requests")}>{text}</Figure>;
}

/** What running batches have taken from the balance; only shown while there are some. */
function BatchesFigure() {
  const t = useTexts();
  const { data } = useQuery(batchReserveQuery);
  if (!data || data.batches === 0) return null;
  return (
    <Figure label={t("reservedInBatches")}>
      <Link className="link" to="/batch">
        <Money quota={data.deposit} />
      </Link>
    </Figure>
  );
}

function Balance({ self }: { readonly self: User }) {
  const t = useTexts();
  const language = useLanguage();
  const display = useQuotaDisplay();
  const form = useForm({
    initial: { key: "" },
    check: ({ key }) => (key.trim() === "" ? { key: t("redeemEmpty") } : {}),
    save: async ({ key }) => {
      const quota = await redeem(key.trim());
      form.set("key", "");
      toast("success", t("redeemed", { amount: formatQuota(quota, display, language) }));
    },
    onProblem: (problem) =>
      isException(problem)
        ? toast("error", t("redeemFailed"), { detail: problemText(problem) })
        : toastProblem(problem),
  });
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void form.submit();
      }}
    >
      <FormSection title={t("balance")}>
        <Flex gap="8" wrap="wrap">
          <Figure label={t("balance")}>
            <Money quota={self.quota} />
          </Figure>
          <Figure label={t("used")}>
            <Money quota={self.used_quota} />
          </Figure>
          <RequestsFigure />
          <BatchesFigure />
        </Flex>
        <TextField
          label={t("redeemCode")}
          value={form.values.key}
          error={form.errors.key}
          isMono
          onChange={(value) => form.set("key", value)}
        />
        <Flex gap="3" align="center" wrap="wrap">
          <Button type="submit" size="sm" loading={form.isSaving}>
            {t("redeem")}
          </Button>
          <TopUpLink />
        </Flex>
      </FormSection>
    </form>
  );
}
