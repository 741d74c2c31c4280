import { logout } from "@fairway/wire";
import { useCallback } from "react";
import { useNavigate } from "react-router";
import { callLast } from "../../lib/http.ts";
import { queryClient } from "../../lib/query.ts";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { mayLeaveForms } from "../../ui/feedback/unsaved-guard.ts";
import { useTexts } from "../texts.ts";
import { forgetUser } from "../../session/session.ts";

/** Ends the session. Running reads are cancelled first, because their session would be over. */
async function signOut(): Promise<void> {
  await queryClient.cancelQueries();
  try {
    await callLast(logout, {}, forgetUser);
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
      await signOut();
      toast("success", t("signedOut"));
      void navigate("/login");
    };
    leave().catch(toastProblem);
  }, [navigate, t]);
}
