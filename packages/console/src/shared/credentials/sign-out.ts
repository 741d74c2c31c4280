import { logout } from "@fairway/wire";
import { useCallback } from "react";
import { useNavigate } from "react-router";
import { callLast } from "../../lib/http.ts";
import { queryClient } from "../../lib/query.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { mayLeaveForms } from "../../ui/feedback/unsaved-guard.ts";
import { useTexts } from "../texts.ts";
import { forgetUser } from "../../session/session.ts";

/**
 * Ends the session. Running reads are cancelled first, because their session would be over. Returns where the provider
 * that began it ends its own; "" if it does not.
 */
async function signOut(): Promise<string> {
  await queryClient.cancelQueries();
  try {
    return (await callLast(logout, {}, forgetUser))?.redirect ?? "";
  } catch (problem) {
    void queryClient.invalidateQueries();
    throw problem;
  }
}

export function useSignOut(): () => void {
  const t = useTexts();
  const navigate = useNavigate();
  return useCallback(() => {
    const leave = async () => {
      if (!(await mayLeaveForms())) return;
      const redirect = await signOut();
      if (redirect !== "") return window.location.assign(redirect);
      toast("success", t("signedOut"));
      void navigate("/login");
    };
    leave().catch(toastProblem);
  }, [navigate, t]);
}
