import { Flex, Spinner, Text } from "@chakra-ui/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import { returnFrom } from "../../shared/identity/services.ts";
import { useStatus } from "../../session/status.ts";
import { setUser } from "../../session/session.ts";
import { problemText, toast } from "../../ui/feedback/toaster.ts";
import { ApiProblem } from "../../lib/problems.ts";
import { SecondStep } from "./second-step.tsx";
import { AccountFrame, Alert } from "./account-frame.tsx";
import { useTexts } from "./texts.ts";

/** The error code of a sign-in that lacks the second factor. */
const CODE_WANTED = "second_factor_required";
/** Replaces the service's name if only the code is missing, after a sign-in that has its own page. */
const SECOND_STEP = "code";

/** The page that sign-in services send users back to. */
export function OauthPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const name = useParams().service;
  const status = useStatus();
  const [search] = useSearchParams();
  const [failure, setFailure] = useState<string>();
  const [needsCode, setNeedsCode] = useState(name === SECOND_STEP);
  const service = useMemo(() => returnFrom(name, status), [name, status]);
  // A code works once: a second effect of the same visit must not spend it again.
  const isSpent = useRef(false);
  useEffect(() => {
    if (isSpent.current || !service) return;
    isSpent.current = true;
    service.end(search).then(
      (user) => {
        if (user) setUser(user);
        else toast("success", t("bound", { service: service.label }));
        void navigate(user ? service.next : "/setting", { replace: true });
      },
      (problem: unknown) => {
        if (problem instanceof ApiProblem && problem.key === CODE_WANTED) setNeedsCode(true);
        else setFailure(problemText(problem));
      },
    );
  }, [service, search, navigate, t]);
  return (
    <AccountFrame title={t("title")}>
      {needsCode ? (
        <SecondStep onDone={() => void navigate(service?.next ?? "/", { replace: true })} />
      ) : failure === undefined && service ? (
        <Flex align="center" gap="3" role="status">
          <Spinner /> {t("signingIn", { service: service.label })}
        </Flex>
      ) : (
        <>
          <Alert text={failure ?? t("noService")} isFailure />
          <Text textStyle="sm" textAlign="center">
            <Link className="link" to="/login">
              {t("toLogin")}
            </Link>
          </Text>
        </>
      )}
    </AccountFrame>
  );
}
