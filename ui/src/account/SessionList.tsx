import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { endSession, type Session, sessionsOfQuery, sessionsQuery } from "../api/account";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Ago, Moment } from "../parts/Times";
import { browserName } from "./agent";

/** SessionList is where the person, or another user, is signed in, and ends what is not wanted. */
export function SessionList({ user }: { user?: string }) {
  const { t } = useSay();
  const client = useQueryClient();
  const sessions = useQuery(sessionsOfQuery(user));
  const end = useMutation({
    mutationFn: (s: Session) => endSession(s.id, user),
    onSuccess: async () => {
      notifications.show({ message: t("account.sessions.ended"), autoClose: 3000, withCloseButton: false });
      await client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    },
  });
  if (sessions.isError) return <ErrorView error={sessions.error} retry={() => void sessions.refetch()} />;
  if (sessions.isPending) return <SkeletonRows />;
  if (sessions.data.length === 0) return <p className="empty">{t("account.sessions.none")}</p>;
  return (
    <>
      {user === undefined && <p className="faint">{t("account.sessions.about")}</p>}
      {end.isError && <ErrorView error={end.error} />}
      <div className="scroll-x" tabIndex={0} role="group" aria-label={t("account.profile.tabSessions")}>
        <table className="plain">
          <thead>
            <tr>
              <th>{t("account.sessions.browser")}</th>
              <th>{t("account.sessions.address")}</th>
              <th>{t("account.sessions.seen")}</th>
              <th>{t("account.sessions.began")}</th>
              <th>{t("account.sessions.ends")}</th>
              <th aria-label={t("account.sessions.end")} />
            </tr>
          </thead>
          <tbody>
            {sessions.data.map((s) => {
              const browser = browserName(s.agent) || t("account.sessions.unknown");
              return (
                <tr key={s.id}>
                  <td>
                    {browser}
                    {s.current && <span className="tag">{t("account.sessions.current")}</span>}
                  </td>
                  <td className="mono">{s.address}</td>
                  <td>
                    <Ago at={s.seen_at} />
                  </td>
                  <td className="num">
                    <Moment at={s.created_at} />
                  </td>
                  <td className="num">
                    <Moment at={s.expires_at} />
                  </td>
                  <td className="end">
                    {!s.current && (
                      <Button
                        variant="default"
                        aria-label={t("account.sessions.endOf", { browser, address: s.address })}
                        loading={end.isPending && end.variables.id === s.id}
                        onClick={() => end.mutate(s)}
                      >
                        {t("account.sessions.end")}
                      </Button>
                    )}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
