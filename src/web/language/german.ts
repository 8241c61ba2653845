/**
 * The German of every text of the pages for people. A key is the English text as it stands in the code: a text without its
 * German is a type error. `{name}` stands for a value. Pages say "Sie".
 */
export const GERMAN = {
  // The frame of every page
  Account: "Konto",
  Jobs: "Jobs",
  Statement: "Kontoauszug",
  Access: "Zugriff",
  Security: "Sicherheit",
  Console: "Konsole",
  "Your account": "Ihr Konto",
  "Skip to the content": "Zum Inhalt springen",
  "Sign out": "Abmelden",
  "Automatic top-up:": "Automatisches Aufladen:",
  "See how to go on": "So geht es weiter",
  Language: "Sprache",
  "Times are in": "Zeiten in",
  "Show {zone}": "{zone} zeigen",
  "Need help?": "Brauchen Sie Hilfe?",
  "Contact support": "Kundendienst fragen",
  "Write to {address}": "An {address} schreiben",
  "Something wrong?": "Stimmt etwas nicht?",
  "Contact support about {name}": "Den Kundendienst nach {name} fragen",
  Cancel: "Abbrechen",
  Copy: "Kopieren",
  Copied: "Kopiert",
  "Press Ctrl+C to copy": "Zum Kopieren Strg+C drücken",
  "{count} new": "{count} neue",
  "{count} or more new": "{count} oder mehr neue",
  "This did not work": "Das hat nicht geklappt",
  "Go to {address}": "Zu {address}",
  "Go to your account": "Zu Ihrem Konto",
  "Go to the console": "Zur Konsole",
  "See who has this role": "Sehen, wer diese Rolle hat",
  "Download my data": "Meine Daten herunterladen",
  "No app": "Keine App",

  // Problems and notices (layout/messages.ts)
  "Please check the form": "Bitte prüfen Sie das Formular",
  "Nothing was changed. Go back, correct the field, and send the form again.":
    "Es wurde nichts geändert. Gehen Sie zurück, berichtigen Sie das Feld und senden Sie das Formular noch einmal.",
  "The operator of this service suspended it, and wrote: “{public_reason}”":
    "Der Betreiber dieses Dienstes hat es gesperrt und schreibt: „{public_reason}“",
  "Nothing in it is lost. If you disagree, contact the operator. You can sign out and download your data here.":
    "Es ist nichts verloren. Wenn Sie nicht einverstanden sind, wenden Sie sich an den Betreiber. Hier können Sie sich abmelden und Ihre Daten herunterladen.",
  "We can’t send you back to that address": "Zu dieser Adresse können wir Sie nicht zurückschicken",
  "Nothing was changed. The page that sent you here asked us to return you to an address that this service does not allow:":
    "Es wurde nichts geändert. Die Seite, von der Sie kommen, nennt als Rückweg eine Adresse, die dieser Dienst nicht erlaubt:",
  "If you didn’t expect this, close the page. If this is your app, ask the operator to add its origin to ALLOWED_ORIGINS or to the app’s origins.":
    "Wenn Sie das nicht erwartet haben, schließen Sie die Seite. Wenn es Ihre App ist, bitten Sie den Betreiber, ihren Ursprung in ALLOWED_ORIGINS oder bei den Ursprüngen der App einzutragen.",
  "This link leads back to an unknown address":
    "Dieser Link führt zu einer unbekannten Adresse zurück",
  "Nothing was changed. The link asks us to return you to an address that belongs to neither the app nor the program that you connected:":
    "Es wurde nichts geändert. Der Link nennt als Rückweg eine Adresse, die weder zur App noch zu dem verbundenen Programm gehört:",
  "If you didn’t expect this, close the page. If this is your app, use an address on the app’s origins or on your client’s redirect addresses.":
    "Wenn Sie das nicht erwartet haben, schließen Sie die Seite. Wenn es Ihre App ist, verwenden Sie eine Adresse ihrer Ursprünge oder eine Weiterleitungsadresse Ihres Clients.",
  "This request came from another site": "Diese Anfrage kam von einer anderen Website",
  "It was not sent from one of our own pages or from a known app. Nothing was changed.":
    "Sie kam weder von unseren eigenen Seiten noch von einer bekannten App. Es wurde nichts geändert.",
  "Open the page again and use its buttons.":
    "Öffnen Sie die Seite noch einmal und benutzen Sie ihre Schaltflächen.",
  "Page not found": "Seite nicht gefunden",
  "Check the address, or go to your account.":
    "Prüfen Sie die Adresse oder gehen Sie zu Ihrem Konto.",
  "This is not our address": "Das ist nicht unsere Adresse",
  "You opened this service under a name that it does not use.":
    "Sie haben diesen Dienst unter einem Namen geöffnet, den er nicht verwendet.",
  "Go to the address below. If a link brought you here, do not trust that link.":
    "Gehen Sie zu der Adresse unten. Wenn ein Link Sie hierher geführt hat, vertrauen Sie ihm nicht.",
  "This connection is not secure": "Diese Verbindung ist nicht sicher",
  "The request was sent over plain http. Nothing was changed.":
    "Die Anfrage kam unverschlüsselt über http. Es wurde nichts geändert.",
  "Open the service over https and try again there.":
    "Öffnen Sie den Dienst über https und versuchen Sie es dort noch einmal.",
  "This page is for operators only": "Diese Seite ist nur für Betreiber",
  "Only the people who run this service can use the console.":
    "Die Konsole ist für die Menschen, die diesen Dienst betreiben.",
  "Go back to your account. To get access, ask the person who runs this service to add you to OPERATORS.":
    "Gehen Sie zurück zu Ihrem Konto. Wenn Sie Zugriff brauchen, bitten Sie den Betreiber, Sie in OPERATORS einzutragen.",
  "Your role does not include this": "Ihre Rolle erlaubt das nicht",
  "Ask an operator with that role to do it. Nothing was changed.":
    "Bitten Sie jemanden mit dieser Rolle darum. Es wurde nichts geändert.",
  "Job not found": "Job nicht gefunden",
  "Check the address, or find the job in your list of jobs.":
    "Prüfen Sie die Adresse oder suchen Sie den Job in Ihrer Liste der Jobs.",
  "Account not found": "Konto nicht gefunden",
  "Search for the person by e-mail address.": "Suchen Sie die Person mit ihrer E-Mail-Adresse.",
  "Several people have this e-mail address": "Mehrere Personen haben diese E-Mail-Adresse",
  "Search for the address in the list of accounts, and open the right one there.":
    "Suchen Sie die Adresse in der Liste der Konten und öffnen Sie dort das richtige.",
  "App not found": "App nicht gefunden",
  "Check the list of apps, or register the app.":
    "Sehen Sie in der Liste der Apps nach oder registrieren Sie die App.",
  "You stopped this app": "Sie haben diese App gestoppt",
  "It cannot use your account or your credits.":
    "Sie kann Ihr Konto und Ihre Credits nicht verwenden.",
  "If you want to use it, allow it again on the page Access.":
    "Wenn Sie die App verwenden möchten, erlauben Sie sie wieder auf der Seite Zugriff.",
  "This account is suspended": "Dieses Konto ist gesperrt",
  "The operator of this service has suspended it for now. Nothing in it is lost.":
    "Der Betreiber dieses Dienstes hat es vorerst gesperrt. Es ist nichts verloren.",
  "Ask the operator of this service for the reason. You can sign out and download your data here.":
    "Fragen Sie den Betreiber dieses Dienstes nach dem Grund. Hier können Sie sich abmelden und Ihre Daten herunterladen.",
  "This works only on your own machine": "Das geht nur auf Ihrem eigenen Rechner",
  "Signing in without a password is for development. It works only at http://localhost.":
    "Die Anmeldung ohne Passwort ist für die Entwicklung. Sie geht nur unter http://localhost.",
  "Open the service at http://localhost, with the same port.":
    "Öffnen Sie den Dienst unter http://localhost mit demselben Port.",
  "This action isn’t available here": "Das geht hier nicht",
  "A form or a program sent a request to an address that does not accept it. Nothing was changed.":
    "Ein Formular oder Programm hat eine Anfrage an eine Adresse gesendet, die sie nicht annimmt. Es wurde nichts geändert.",
  "Go back, or go to your account.": "Gehen Sie zurück oder zu Ihrem Konto.",
  "This service is not set up yet": "Dieser Dienst ist noch nicht eingerichtet",
  "A setting is missing or wrong, so the service can’t start. This is not your fault.":
    "Eine Einstellung fehlt oder ist falsch, deshalb kann der Dienst nicht starten. Das liegt nicht an Ihnen.",
  "Try again later. If you run this service, its log names each setting and how to correct it.":
    "Versuchen Sie es später noch einmal. Wenn Sie den Dienst betreiben: Das Protokoll nennt jede Einstellung und wie Sie sie berichtigen.",
  "Too many attempts": "Zu viele Versuche",
  "Your account or your network has sent too many requests in a short time. Nothing was done.":
    "Von Ihrem Konto oder aus Ihrem Netz kamen in kurzer Zeit zu viele Anfragen. Es ist nichts geschehen.",
  "Wait a minute, then try again.": "Warten Sie eine Minute und versuchen Sie es dann noch einmal.",
  "The service is temporarily unavailable": "Der Dienst ist gerade nicht erreichbar",
  "Your last action may or may not have been completed.":
    "Ihre letzte Eingabe wurde vielleicht ausgeführt, vielleicht auch nicht.",
  "Wait a few seconds, check whether it was completed, and try again if not.":
    "Warten Sie einige Sekunden, sehen Sie nach, und versuchen Sie es sonst noch einmal.",
  "The payment service is not responding": "Der Zahlungsdienst antwortet nicht",
  "Nothing was paid and nothing was changed.": "Es wurde nichts bezahlt und nichts geändert.",
  "The payment service refused this": "Der Zahlungsdienst hat das abgelehnt",
  "Nothing was paid.": "Es wurde nichts bezahlt.",
  "Ask the operator of this service.": "Fragen Sie den Betreiber dieses Dienstes.",
  "This package is not for sale any more": "Dieses Paket gibt es nicht mehr",
  "Go to your account and choose another one.":
    "Gehen Sie zu Ihrem Konto und wählen Sie ein anderes.",
  "Your account is full": "Ihr Konto ist voll",
  "It has stored as much as it can. Jobs that have started can still finish.":
    "Es hat so viel gespeichert, wie es kann. Gestartete Jobs können noch fertig werden.",
  "Ask the operator of this service what to do.":
    "Fragen Sie den Betreiber dieses Dienstes, was zu tun ist.",
  "Something went wrong on our side": "Bei uns ist etwas schiefgegangen",
  "To report it, send the request id {request_id}.":
    "Wenn Sie es melden, nennen Sie die Anfrage {request_id}.",
  "Your account is being updated": "Ihr Konto wird gerade aktualisiert",
  "It was changed by a newer version of this service than the one that is running now. Nothing was lost.":
    "Eine neuere Version dieses Dienstes hat es geändert als die, die jetzt läuft. Es ist nichts verloren.",
  "Try again in a few minutes.": "Versuchen Sie es in einigen Minuten noch einmal.",
  "Your account is being restored": "Ihr Konto wird gerade wiederhergestellt",
  "An operator of this service brings it back from its archive.":
    "Ein Betreiber dieses Dienstes stellt es aus seinem Archiv wieder her.",
  "You were not signed in": "Sie wurden nicht angemeldet",
  "{provider} reported that the sign-in was cancelled or not allowed.":
    "{provider} meldet, dass die Anmeldung abgebrochen oder nicht erlaubt wurde.",
  "Try again, or choose another way to sign in.":
    "Versuchen Sie es noch einmal oder melden Sie sich auf andere Weise an.",
  "This sign-in has expired": "Diese Anmeldung ist abgelaufen",
  "It took longer than ten minutes, was already finished, or was started in another browser.":
    "Sie dauerte länger als zehn Minuten, war schon abgeschlossen oder wurde in einem anderen Browser begonnen.",
  "Start again here or in the app that you came from.":
    "Beginnen Sie noch einmal, hier oder in der App, aus der Sie kommen.",
  "We couldn’t verify this sign-in": "Wir konnten diese Anmeldung nicht bestätigen",
  "The response does not belong to the sign-in with {provider} that this browser started. You were not signed in.":
    "Die Antwort gehört nicht zu der Anmeldung mit {provider}, die dieser Browser begonnen hat. Sie wurden nicht angemeldet.",
  "Start again here. If a link brought you to this page, do not use that link again.":
    "Beginnen Sie hier noch einmal. Wenn ein Link Sie hierher geführt hat, benutzen Sie ihn nicht wieder.",
  "{provider} is not responding": "{provider} antwortet nicht",
  "You were not signed in.": "Sie wurden nicht angemeldet.",
  "Try again in a minute, or choose another way to sign in.":
    "Versuchen Sie es in einer Minute noch einmal oder melden Sie sich auf andere Weise an.",
  "Sign-in with {provider} failed": "Die Anmeldung mit {provider} ist fehlgeschlagen",
  "{provider} sent a response that we could not use. You were not signed in.":
    "Mit der Antwort von {provider} konnten wir nichts anfangen. Sie wurden nicht angemeldet.",
  "Try again. If it keeps failing, tell the operator of this service.":
    "Versuchen Sie es noch einmal. Wenn es immer wieder fehlschlägt, sagen Sie es dem Betreiber dieses Dienstes.",
  "{provider} did not ask you to sign in": "{provider} hat keine Anmeldung verlangt",
  "The app that you came from wants you to sign in again. You were not signed in.":
    "Die App, aus der Sie kommen, verlangt eine neue Anmeldung. Sie wurden nicht angemeldet.",
  "Sign out at {provider} and try again, or choose another way to sign in.":
    "Melden Sie sich bei {provider} ab und versuchen Sie es noch einmal, oder melden Sie sich auf andere Weise an.",
  "Sign-in with {provider} is not set up correctly":
    "Die Anmeldung mit {provider} ist nicht richtig eingerichtet",
  "You were not signed in. Nothing was changed.":
    "Sie wurden nicht angemeldet. Es wurde nichts geändert.",
  "Choose another way to sign in, and tell the operator of this service. The log says what to correct.":
    "Melden Sie sich auf andere Weise an und sagen Sie es dem Betreiber dieses Dienstes. Das Protokoll nennt, was zu berichtigen ist.",
  "This {provider} account is already in use": "Dieses Konto bei {provider} wird schon verwendet",
  "It is linked to another account here, so it was not linked to yours.":
    "Es gehört hier schon zu einem anderen Konto und wurde deshalb nicht mit Ihrem verknüpft.",
  "Sign in with it and unlink it there first, or link a different one.":
    "Melden Sie sich damit an und lösen Sie dort zuerst die Verknüpfung, oder verknüpfen Sie ein anderes.",
  "You already have a {provider} account linked":
    "Sie haben schon ein Konto bei {provider} verknüpft",
  "You can link one account of each provider.":
    "Von jedem Anbieter können Sie ein Konto verknüpfen.",
  "Unlink the one that you have, then link the other one.":
    "Lösen Sie zuerst die bestehende Verknüpfung, dann verknüpfen Sie das andere.",
  "{provider} was not linked": "{provider} wurde nicht verknüpft",
  "You were signed out or signed in as someone else before it was finished.":
    "Bevor es fertig war, wurden Sie abgemeldet oder als jemand anderes angemeldet.",
  "Sign in, then link it again from your account.":
    "Melden Sie sich an und verknüpfen Sie es dann noch einmal in Ihrem Konto.",
  "Passkeys need JavaScript": "Passkeys brauchen JavaScript",
  "Your browser did not run the script that asks for your passkey. Nothing was changed.":
    "Ihr Browser hat das Skript nicht ausgeführt, das nach Ihrem Passkey fragt. Es wurde nichts geändert.",
  "Allow JavaScript for this page and try again, or choose another way to sign in.":
    "Erlauben Sie JavaScript für diese Seite und versuchen Sie es noch einmal, oder melden Sie sich auf andere Weise an.",
  "We do not know this passkey": "Wir kennen diesen Passkey nicht",
  "It was removed from its account, or its account was deleted. You were not signed in.":
    "Er wurde aus seinem Konto entfernt, oder das Konto wurde gelöscht. Sie wurden nicht angemeldet.",
  "Delete it from your device or password manager, and sign in with another passkey or in another way.":
    "Löschen Sie ihn auf Ihrem Gerät oder in Ihrem Passwortmanager und melden Sie sich mit einem anderen Passkey oder auf andere Weise an.",
  "We couldn’t verify this passkey": "Wir konnten diesen Passkey nicht bestätigen",
  "Your device’s response was not valid. Nothing was changed.":
    "Die Antwort Ihres Geräts war nicht gültig. Es wurde nichts geändert.",
  "Try again. If it keeps failing, sign in another way and remove this passkey from your account.":
    "Versuchen Sie es noch einmal. Wenn es immer wieder fehlschlägt, melden Sie sich auf andere Weise an und entfernen Sie diesen Passkey aus Ihrem Konto.",
  "You are signed out.": "Sie sind abgemeldet.",
  "You are signed out in every browser. Open apps notice within 15 minutes. Tokens, and connections that may stay connected, keep their access; you can revoke them on the page Access.":
    "Sie sind in allen Browsern abgemeldet. Offene Apps bemerken es innerhalb von 15 Minuten. Token, und Verbindungen, die verbunden bleiben dürfen, behalten ihren Zugriff; auf der Seite Zugriff können Sie ihn widerrufen.",
  "You are signed out in every browser, and all connections and tokens have lost their access here; those for a resource stop there within ten minutes. Open apps notice within 15 minutes.":
    "Sie sind in allen Browsern abgemeldet, und alle Verbindungen und Token haben hier ihren Zugriff verloren; der Zugriff auf eine Ressource endet dort innerhalb von zehn Minuten. Offene Apps bemerken es innerhalb von 15 Minuten.",
  "Linked. You can now sign in this way.": "Verknüpft. So können Sie sich jetzt anmelden.",
  "Unlinked. You can no longer sign in this way, and everything that you approved with it has lost its access here; at a resource it stops within ten minutes. Open apps notice within 15 minutes.":
    "Verknüpfung gelöst. So können Sie sich nicht mehr anmelden, und alles, was Sie damit genehmigt haben, hat hier keinen Zugriff mehr; bei einer Ressource endet er innerhalb von zehn Minuten. Offene Apps bemerken es innerhalb von 15 Minuten.",
  "This is your only way to sign in. Link another one first.":
    "Das ist Ihre einzige Art der Anmeldung. Verknüpfen Sie zuerst eine andere.",
  "Stopped. The app can start no more jobs with your credits. Jobs that it has already started can still finish.":
    "Gestoppt. Die App kann mit Ihren Credits keine Jobs mehr starten. Schon gestartete Jobs können noch fertig werden.",
  "Allowed. The app can use your credits for its own jobs again.":
    "Erlaubt. Die App kann Ihre Credits wieder für ihre eigenen Jobs verwenden.",
  "Cancelled. The job ended now, as if it had timed out. If its app still completes it, you pay what it cost.":
    "Abgebrochen. Der Job ist jetzt zu Ende, als wäre seine Zeit abgelaufen. Wenn seine App ihn noch abschließt, zahlen Sie, was er gekostet hat.",
  "This job had already ended, so it was not cancelled.":
    "Dieser Job war schon zu Ende und wurde deshalb nicht abgebrochen.",
  "Ended. That browser has to sign in again.":
    "Beendet. In diesem Browser ist eine neue Anmeldung nötig.",
  "Stripe has no receipt for this payment. Ask for one if you need it.":
    "Stripe hat für diese Zahlung keinen Beleg. Fragen Sie danach, wenn Sie einen brauchen.",
  "Stripe did not give the receipt. Try again in a minute.":
    "Stripe hat den Beleg nicht geliefert. Versuchen Sie es in einer Minute noch einmal.",
  "Automatic top-up is on. Saving the card charged nothing.":
    "Das automatische Aufladen ist an. Beim Speichern der Karte wurde nichts abgebucht.",
  "Saved. It applies from now on.": "Gespeichert. Es gilt ab jetzt.",
  "Automatic top-up is off. A payment that is already on its way is still credited.":
    "Das automatische Aufladen ist aus. Eine Zahlung, die schon unterwegs ist, wird noch gutgeschrieben.",
  "Saved. It applies from the next request.": "Gespeichert. Es gilt ab der nächsten Anfrage.",
  "Revoked. It stopped here at once. If it was for a resource, it stops there within ten minutes.":
    "Widerrufen. Hier gilt das sofort. Wenn der Zugriff für eine Ressource war, endet er dort innerhalb von zehn Minuten.",
  "That account was deleted. Sign in to create a new one.":
    "Dieses Konto wurde gelöscht. Melden Sie sich an, um ein neues zu eröffnen.",
  "That was not linked to your account.": "Das war nicht mit Ihrem Konto verknüpft.",

  // Labels (layout/labels.ts, lot_list.tsx, top_up_texts.ts)
  "Account opened": "Konto eröffnet",
  "Starter credits": "Startguthaben",
  Held: "Reserviert",
  Charged: "Abgerechnet",
  "No longer held": "Nicht mehr reserviert",
  "Refunded by the operator": "Vom Betreiber erstattet",
  "Adjusted by the operator": "Vom Betreiber angepasst",
  "Credits bought": "Credits gekauft",
  "Purchase refunded": "Kauf erstattet",
  "Plan changed": "Tarif geändert",
  "Account suspended": "Konto gesperrt",
  "Suspension ended": "Sperre aufgehoben",
  "Debt of your deleted account": "Schuld Ihres gelöschten Kontos",
  "Credits expired": "Credits verfallen",
  "Credits of your plan": "Credits Ihres Tarifs",
  "Unused credits kept": "Unbenutzte Credits behalten",
  "Account restored to an earlier time": "Konto auf einen früheren Stand gebracht",
  "Purchase restored": "Kauf wieder gültig",
  "Debt of your deleted account lowered": "Schuld Ihres gelöschten Kontos gesenkt",
  Running: "Läuft",
  Done: "Fertig",
  Failed: "Fehlgeschlagen",
  Cancelled: "Abgebrochen",
  "Timed out": "Zeit abgelaufen",
  "The operator of this service took credits away: “{note}”.":
    "Der Betreiber dieses Dienstes hat Credits abgezogen: „{note}“.",
  "The operator of this service took credits away.":
    "Der Betreiber dieses Dienstes hat Credits abgezogen.",
  "A payment was refunded after its credits were spent.":
    "Eine Zahlung wurde erstattet, nachdem ihre Credits ausgegeben waren.",
  "The account that you deleted owed these credits.":
    "Das Konto, das Sie gelöscht haben, schuldete diese Credits.",
  "A job cost more than was held for it.": "Ein Job hat mehr gekostet, als für ihn reserviert war.",
  "Thank you, your credits have arrived": "Danke, Ihre Credits sind da",
  "You can use them in every app now.": "Sie können sie jetzt in jeder App verwenden.",
  "Waiting for your payment": "Wir warten auf Ihre Zahlung",
  "Stripe usually confirms a payment within seconds; some payment methods take days. Your credits arrive automatically, even if you close this page.":
    "Stripe bestätigt eine Zahlung meist in Sekunden; manche Zahlungsarten dauern Tage. Ihre Credits kommen von selbst, auch wenn Sie diese Seite schließen.",
  "Checkout cancelled": "Kauf abgebrochen",
  "You left the checkout before paying. You were not charged.":
    "Sie haben die Kasse verlassen, bevor Sie bezahlt haben. Es wurde nichts abgebucht.",
  credit: "Credit",
  credits: "Credits",
  "running job": "laufenden Job",
  "running jobs": "laufende Jobs",
  "{count} held for {jobs}": "{count} für {jobs} reserviert",
  account: "Konto",
  accounts: "Konten",
  request: "Anfrage",
  requests: "Anfragen",
  warning: "Warnung",
  warnings: "Warnungen",
  "Of these, with an end or for some apps only:": "Davon mit einem Ende oder nur für manche Apps:",
  "Jobs use what expires first; then credits for their own app before credits for all; then given credits before bought ones; then the oldest.":
    "Jobs verbrauchen zuerst, was zuerst verfällt; dann Credits für die eigene App vor Credits für alle; dann geschenkte vor gekauften; dann die ältesten.",
  "The statement shows what has expired.": "Der Kontoauszug zeigt, was verfallen ist.",
  "{count} more held: these do not expire": "{count} weitere reserviert: Diese verfallen nicht",
  "only in {apps}": "nur in {apps}",
  bought: "gekauft",
  "returned by a job after their end": "nach ihrem Ende von einem Job zurückgekommen",
  "without end": "ohne Ende",
  "until {time}": "bis {time}",
  "On.": "An.",
  "Your balance is high enough. Nothing is charged until it falls below your threshold.":
    "Ihr Guthaben reicht. Es wird nichts abgebucht, bis es unter Ihre Schwelle fällt.",
  "On. A payment is on its way.": "An. Eine Zahlung ist unterwegs.",
  "The credits arrive as soon as Stripe confirms the payment, usually within seconds.":
    "Die Credits kommen, sobald Stripe die Zahlung bestätigt, meist in Sekunden.",
  "On. The last payment failed.": "An. Die letzte Zahlung ist fehlgeschlagen.",
  "The next attempt follows an hour after it. After three that fail in a row, automatic top-up is switched off. You can save another card, or buy credits by hand.":
    "Der nächste Versuch folgt eine Stunde danach. Nach drei Fehlschlägen hintereinander wird das automatische Aufladen ausgeschaltet. Sie können eine andere Karte speichern oder Credits selbst kaufen.",
  "On. This month’s limit is reached.": "An. Die Grenze dieses Monats ist erreicht.",
  "No package fits into what is left of it, so nothing is charged before the next month (UTC). To go on now, raise the limit, or buy credits by hand.":
    "Kein Paket passt in den Rest, deshalb wird vor dem nächsten Monat (UTC) nichts abgebucht. Wenn Sie jetzt weitermachen möchten, erhöhen Sie die Grenze oder kaufen Sie Credits selbst.",
  "Off.": "Aus.",
  "You switched it off. Nothing is charged.":
    "Sie haben es ausgeschaltet. Es wird nichts abgebucht.",
  "Off. Your card was declined three times.": "Aus. Ihre Karte wurde dreimal abgelehnt.",
  "Nothing more is charged. Save another card, or ask your bank and switch it on again.":
    "Es wird nichts mehr abgebucht. Speichern Sie eine andere Karte, oder fragen Sie Ihre Bank und schalten Sie es wieder ein.",
  "Off. Your bank wants you to confirm payments yourself.":
    "Aus. Ihre Bank möchte, dass Sie Zahlungen selbst bestätigen.",
  "So the card cannot be charged without you, and nothing was charged. Buy credits by hand, where your bank can ask you, or save another card.":
    "Ohne Sie kann die Karte also nicht belastet werden, und es wurde nichts abgebucht. Kaufen Sie Credits selbst, dabei kann Ihre Bank Sie fragen, oder speichern Sie eine andere Karte.",
  "Off. Stripe did not accept the saved card, or returned a payment.":
    "Aus. Stripe hat die gespeicherte Karte nicht angenommen oder eine Zahlung zurückgegeben.",
  "The card may have expired or been removed, or a refund or dispute left too few credits. Nothing more is charged. Save a card, or switch it on again.":
    "Die Karte ist vielleicht abgelaufen oder wurde entfernt, oder nach einer Erstattung oder Rückbuchung waren es zu wenig Credits. Es wird nichts mehr abgebucht. Speichern Sie eine Karte, oder schalten Sie es wieder ein.",
  "Off. The package has changed.": "Aus. Das Paket hat sich geändert.",
  "The package that you chose is no longer for sale at its price, so nothing is charged. Choose again.":
    "Das Paket, das Sie gewählt haben, gibt es zu diesem Preis nicht mehr, deshalb wird nichts abgebucht. Wählen Sie neu.",
  "Off. Your account was suspended.": "Aus. Ihr Konto war gesperrt.",
  "Nothing is charged. You can switch it on again.":
    "Es wird nichts abgebucht. Sie können es wieder einschalten.",
  "On its way": "Unterwegs",
  Paid: "Bezahlt",
  "Not needed any more": "Nicht mehr nötig",
  "the card was declined": "die Karte wurde abgelehnt",
  "the bank requires a confirmation": "die Bank verlangt eine Bestätigung",
  "Stripe did not accept the card": "Stripe hat die Karte nicht angenommen",

  // Sign-in and sign-out
  "Sign in": "Anmelden",
  "Sign in to {app}": "Bei {app} anmelden",
  "Sign in again": "Noch einmal anmelden",
  "{service} gives you one sign-in and one credit balance for many apps.":
    "Mit {service} haben Sie eine Anmeldung und ein Guthaben für viele Apps.",
  "After you sign in, you return to {host}.": "Nach der Anmeldung geht es zurück zu {host}.",
  "The app that you came from wants you to sign in again before it continues.":
    "Die App, aus der Sie kommen, verlangt eine neue Anmeldung, bevor es weitergeht.",
  "Continue with {method}": "Weiter mit {method}",
  "Continue with a passkey": "Weiter mit einem Passkey",
  "Create an account with a passkey": "Konto mit einem Passkey erstellen",
  "Use a recovery code": "Wiederherstellungscode verwenden",
  "E-mail address": "E-Mail-Adresse",
  "Enter a complete e-mail address, such as ada@example.com.":
    "Geben Sie eine vollständige E-Mail-Adresse ein, zum Beispiel ada@example.com.",
  "For development only: any address works, without a password.":
    "Nur für die Entwicklung: Jede Adresse funktioniert, ohne Passwort.",
  "Sign-in is not set up yet. The operator of this service can add a sign-in provider.":
    "Die Anmeldung ist noch nicht eingerichtet. Der Betreiber dieses Dienstes kann einen Anbieter für die Anmeldung eintragen.",
  "Do you use an app that signs you in with {either}? You cannot use that account on this page yet. Use it in the app, and ask the operator of this service to set up sign-in with {all} here. Any other sign-in on this page opens a different account.":
    "Verwenden Sie eine App, in der Sie sich mit {either} anmelden? Dieses Konto können Sie auf dieser Seite noch nicht öffnen. Verwenden Sie es in der App und bitten Sie den Betreiber dieses Dienstes, die Anmeldung mit {all} auch hier einzurichten. Jede andere Anmeldung auf dieser Seite öffnet ein anderes Konto.",
  and: "und",
  or: "oder",
  "Continue to {app}": "Weiter zu {app}",
  "You are signed in as {person}.": "Sie sind als {person} angemeldet.",
  "If you continue, {host} can use your account and its credits.":
    "Damit kann {host} Ihr Konto und Ihre Credits verwenden.",
  Continue: "Weiter",
  "Continue as {person}": "Weiter als {person}",
  "Use another account": "Anderes Konto verwenden",
  "Back to the page Security": "Zurück zur Seite Sicherheit",
  "You stopped {app}": "Sie haben {app} gestoppt",
  "It cannot use your account.": "Die App kann Ihr Konto nicht verwenden.",
  "It can start no more jobs, and no other app or token can start jobs for it.":
    "Sie kann keine Jobs mehr starten, und auch keine andere App und kein Token kann das für sie tun.",
  "If you allow the app again, its server and its pages can use your credits as before.":
    "Wenn Sie die App wieder erlauben, können ihr Server und ihre Seiten Ihre Credits verwenden wie zuvor.",
  "Allow {app} again": "{app} wieder erlauben",
  "Keep it stopped": "Gestoppt lassen",
  "Passkeys need JavaScript. Allow it for this page to use them.":
    "Passkeys brauchen JavaScript. Erlauben Sie es für diese Seite, um sie zu verwenden.",
  "This browser has no passkeys. Use a newer browser, over https.":
    "Dieser Browser unterstützt keine Passkeys. Verwenden Sie einen neueren Browser über https.",
  "This device already has a passkey for your account.":
    "Dieses Gerät hat schon einen Passkey für Ihr Konto.",
  "No passkey was used. Try again, or choose another way.":
    "Es wurde kein Passkey verwendet. Versuchen Sie es noch einmal oder wählen Sie einen anderen Weg.",
  "This device cannot create a passkey. Try another device.":
    "Dieses Gerät kann keinen Passkey erstellen. Versuchen Sie es mit einem anderen Gerät.",
  "Passkeys do not work at this address. Use the usual address of this service.":
    "Unter dieser Adresse funktionieren Passkeys nicht. Verwenden Sie die übliche Adresse dieses Dienstes.",
  "That did not work. Try again in a minute.":
    "Das hat nicht geklappt. Versuchen Sie es in einer Minute noch einmal.",
  "Your passkey": "Ihr Passkey",
  "A passkey replaces a password. Your device or password manager keeps it, and you use it with your fingerprint, your face or your screen lock.":
    "Ein Passkey ersetzt ein Passwort. Ihr Gerät oder Passwortmanager bewahrt ihn auf, und Sie verwenden ihn mit Fingerabdruck, Gesicht oder Bildschirmsperre.",
  "An account that begins with a passkey gets no starter credits.":
    "Ein Konto, das Sie mit einem Passkey erstellen, bekommt kein Startguthaben.",
  "To get them, {link} first, and add a passkey afterwards on the page Security.":
    "Um es zu bekommen, {link} und fügen Sie danach auf der Seite Sicherheit einen Passkey hinzu.",
  "sign in with {methods}": "melden Sie sich zuerst mit {methods} an",
  "Create account": "Konto erstellen",
  "Your name": "Ihr Name",
  "Your device shows the passkey under this name. Apps that use your account can read it.":
    "Ihr Gerät zeigt den Passkey unter diesem Namen. Apps, die Ihr Konto verwenden, können ihn lesen.",
  "After that, you get a recovery code, in case you lose the passkey.":
    "Danach bekommen Sie einen Wiederherstellungscode, falls Sie den Passkey verlieren.",
  "I already have a {service} account": "Ich habe schon ein Konto bei {service}",
  "Save your recovery code": "Wiederherstellungscode sichern",
  "You are signed in. The code that you used is no longer valid. This is your new one.":
    "Sie sind angemeldet. Der verwendete Code gilt nicht mehr. Hier ist Ihr neuer.",
  "Your account is ready.": "Ihr Konto ist bereit.",
  "Your recovery code": "Ihr Wiederherstellungscode",
  "recovery-code.txt": "wiederherstellungscode.txt",
  "Recovery code of your account at {service}, {host}. It works once.":
    "Wiederherstellungscode Ihres Kontos bei {service}, {host}. Er gilt einmal.",
  Download: "Herunterladen",
  "If you lose your passkeys, you can sign in with this code. It works once; then you get a new one. Download it, write it down or keep it in a password manager, and show it to nobody.":
    "Wenn Sie Ihre Passkeys verlieren, können Sie sich mit diesem Code anmelden. Er gilt einmal; danach bekommen Sie einen neuen. Laden Sie ihn herunter, schreiben Sie ihn auf oder legen Sie ihn in einem Passwortmanager ab, und zeigen Sie ihn niemandem.",
  "We show it only now.": "Wir zeigen ihn nur dieses eine Mal.",
  "If you lose it, make a new one on the page Security while you can still sign in. If you lose it and all other ways to sign in, nobody can open your account again, and its credits are lost.":
    "Wenn Sie ihn verlieren, erstellen Sie auf der Seite Sicherheit einen neuen, solange Sie sich noch anmelden können. Wenn Sie ihn und alle anderen Möglichkeiten zur Anmeldung verlieren, kann niemand mehr Ihr Konto öffnen, und die Credits darin sind verloren.",
  "Next, add a passkey on the page Security, and remove the ones that you lost.":
    "Fügen Sie als Nächstes auf der Seite Sicherheit einen Passkey hinzu und entfernen Sie die verlorenen.",
  "I saved the code": "Ich habe den Code gesichert",
  "Sign in with a recovery code": "Mit einem Wiederherstellungscode anmelden",
  "Use it if you lost all your passkeys. It works once; then you get a new one.":
    "Verwenden Sie ihn, wenn Sie alle Ihre Passkeys verloren haben. Er gilt einmal; danach bekommen Sie einen neuen.",
  "Recovery code": "Wiederherstellungscode",
  "It has 25 letters and digits in groups of five.":
    "Er hat 25 Buchstaben und Ziffern in Fünfergruppen.",
  "This code is not valid. Check each letter. If you made a newer code, only the newest one is valid.":
    "Dieser Code gilt nicht. Prüfen Sie jedes Zeichen. Wenn Sie einen neueren Code erstellt haben, gilt nur der neueste.",
  "Other ways to sign in": "Andere Möglichkeiten zur Anmeldung",
  "We could not sign you out": "Wir konnten Sie nicht abmelden",
  "The app’s request has a parameter twice. If you were signed in, you still are.":
    "Die Anfrage der App enthält einen Parameter doppelt. Wenn Sie angemeldet waren, sind Sie es noch.",
  "The app’s request has an ID token that this service did not make. If you were signed in, you still are.":
    "Die Anfrage der App enthält ein ID-Token, das nicht von diesem Dienst stammt. Wenn Sie angemeldet waren, sind Sie es noch.",
  "The app’s request has an ID token of another app. If you were signed in, you still are.":
    "Die Anfrage der App enthält das ID-Token einer anderen App. Wenn Sie angemeldet waren, sind Sie es noch.",
  "The request names an address to go to, but not the app that it belongs to. If you were signed in, you still are.":
    "Die Anfrage nennt eine Zieladresse, aber nicht die App, zu der sie gehört. Wenn Sie angemeldet waren, sind Sie es noch.",
  "It is not registered here, or its description cannot be read. If you were signed in, you still are.":
    "Sie ist hier nicht registriert, oder ihre Beschreibung lässt sich nicht lesen. Wenn Sie angemeldet waren, sind Sie es noch.",
  "We can’t send you to that address": "Zu dieser Adresse können wir Sie nicht schicken",
  "The app did not register the address that it named. If you were signed in, you still are. The address:":
    "Die App hat die Adresse, die sie nennt, nicht registriert. Wenn Sie angemeldet waren, sind Sie es noch. Die Adresse:",
  "You can sign out on your account page.": "Abmelden können Sie sich auf der Seite Ihres Kontos.",
  "Sign out of {service}?": "Von {service} abmelden?",
  "Another page": "Eine andere Seite",
  "{asker} asks to sign you out in this browser. You will have to sign in again, also in other apps that use {service}. What you allowed to stay connected keeps its access.":
    "{asker} möchte Sie in diesem Browser abmelden. Danach müssen Sie sich wieder anmelden, auch in anderen Apps, die {service} verwenden. Was verbunden bleiben darf, behält seinen Zugriff.",
  "Then you go to {host}.": "Danach geht es weiter zu {host}.",
  "Stay signed in": "Angemeldet bleiben",

  // Consent, approval and device login
  "Connect {app}?": "{app} verbinden?",
  "Let {app} do more?": "{app} mehr erlauben?",
  "Error: {title}": "Fehler: {title}",
  "You have signed in again since this page was shown. Nothing has access yet: check the page again.":
    "Seit diese Seite angezeigt wurde, haben Sie sich neu angemeldet. Es wurde noch kein Zugriff erteilt: Prüfen Sie die Seite noch einmal.",
  "This page was open for too long. Nothing has access yet: check it again.":
    "Diese Seite war zu lange offen. Es wurde noch kein Zugriff erteilt: Prüfen Sie sie noch einmal.",
  "It can spend all your credits": "Sie erlauben, alle Ihre Credits auszugeben",
  "It can spend at most {limits}": "Sie erlauben Ausgaben von höchstens {limits}",
  "It can read, and spend nothing": "Sie erlauben das Lesen, aber keine Ausgaben",
  "It can spend nothing": "Sie erlauben keine Ausgaben",
  "a day (UTC)": "pro Tag (UTC)",
  "a week (from Monday)": "pro Woche (ab Montag)",
  "a month": "pro Monat",
  "in total": "insgesamt",
  "in all apps": "in allen Apps",
  "in {apps} only": "nur in {apps}",
  "in no app": "in keiner App",
  "in the apps that you choose": "in den Apps, die Sie wählen",
  "for {duration}": "für {duration}",
  "until {date}": "bis {date}",
  "{end}, or until you sign out here": "{end} oder bis Sie sich hier abmelden",
  "You can stop it at any time in your account.":
    "Sie können den Zugriff jederzeit in Ihrem Konto beenden.",
  "Who asks": "Anfrage von",
  "{app}, registered with {service}": "{app}, bei {service} registriert",
  "{app}, part of {service}": "{app}, ein Teil von {service}",
  "An app of {host}": "Eine App von {host}",
  "More about it": "Mehr dazu",
  Site: "Website",
  Privacy: "Datenschutz",
  Terms: "Nutzungsbedingungen",
  "You return to": "Danach geht es zu",
  "a program on this device": "einem Programm auf diesem Gerät",
  "{service} has not checked this app.": "{service} hat diese App nicht geprüft.",
  "Anyone can choose the name “{app}”. Allow it only if you expect {host} to ask.":
    "Den Namen „{app}“ kann jeder wählen. Erlauben Sie den Zugriff nur, wenn Sie diese Anfrage von {host} erwarten.",
  "It wants to": "Diese App möchte",
  "It also wants to": "Diese App möchte außerdem",
  "It can already": "Diese App darf schon",
  "use {app} at {host} as you": "{app} unter {host} in Ihrem Namen verwenden",
  "use {app} at {host} as you ({rights})": "{app} unter {host} in Ihrem Namen verwenden ({rights})",
  "pay {app} with your credits for what it does: {app} decides what each use costs":
    "{app} mit Ihren Credits bezahlen: Was jede Nutzung kostet, legt {app} fest",
  "run jobs and pay for them with your credits, and see your balance, plan, jobs and ledger":
    "Jobs starten und mit Ihren Credits bezahlen sowie Ihr Guthaben, Ihren Tarif, Ihre Jobs und Ihre Buchungen sehen",
  "see your balance, plan, jobs and ledger":
    "Ihr Guthaben, Ihren Tarif, Ihre Jobs und Ihre Buchungen sehen",
  "know which account is yours, so that you can sign in with it":
    "Ihr Konto erkennen, damit Sie sich damit anmelden können",
  "see your name": "Ihren Namen sehen",
  "see your e-mail address": "Ihre E-Mail-Adresse sehen",
  "stay connected after you sign out here": "Verbunden bleiben, auch wenn Sie sich hier abmelden",
  "So far:": "Bisher:",
  "{spent} of {credits} credits {period} are spent.":
    "Davon ausgegeben: {spent} von {credits} Credits {period}.",
  "It is connected already, and allowing it again makes no second limit.":
    "Diese App ist schon verbunden. Wenn Sie noch einmal zustimmen, kommt keine zweite Grenze dazu.",
  "Allow only if you have just started {app} on this device.":
    "Erlauben Sie das nur, wenn Sie {app} gerade auf diesem Gerät gestartet haben.",
  "Any other program on it can claim to be {app}.":
    "Jedes andere Programm darauf kann sich als {app} ausgeben.",
  Allow: "Erlauben",
  Deny: "Ablehnen",
  "Nothing has access yet.": "Es wurde noch kein Zugriff erteilt.",
  "Your choices are kept.": "Ihre Angaben sind noch da.",
  "Please correct:": "Bitte berichtigen Sie:",
  "Your account has reached its limit of devices and tokens. {link}, then try again.":
    "Ihr Konto hat so viele Geräte und Token, wie es haben kann. {link} und versuchen Sie es dann noch einmal.",
  "Revoke one that you no longer need":
    "Widerrufen Sie einen Zugriff, den Sie nicht mehr brauchen,",
  "What it can do": "Was erlaubt ist",
  "Read and spend": "Lesen und ausgeben",
  "Run jobs and pay for them with your credits, and see your balance, plan, jobs and ledger.":
    "Jobs starten und mit Ihren Credits bezahlen sowie Ihr Guthaben, Ihren Tarif, Ihre Jobs und Ihre Buchungen sehen.",
  "Read only": "Nur lesen",
  "See your balance, plan, jobs and ledger.":
    "Ihr Guthaben, Ihren Tarif, Ihre Jobs und Ihre Buchungen sehen.",
  "Only without a limit and in all apps, it also sees your name and e-mail address and what else has access, can stop apps, and can open a checkout, where you would pay.":
    "Nur wenn es keine Grenze gibt und alle Apps erlaubt sind, sind auch Ihr Name, Ihre E-Mail-Adresse und alle anderen Zugriffe sichtbar; Apps können gestoppt werden, und es kann eine Kasse geöffnet werden, an der Sie bezahlen würden.",
  "How much it can spend": "Wie viel ausgegeben werden darf",
  "Largest number of credits": "Höchstzahl an Credits",
  "Largest number of credits of limit {place}": "Grenze {place}: Höchstzahl an Credits",
  "No limit": "Unbegrenzt",
  Period: "Zeitraum",
  "Period of limit {place}": "Grenze {place}: Zeitraum",
  "You have {credits} now.": "Sie haben jetzt {credits}.",
  "It asks for {wish}.": "Angefragt: {wish}.",
  "Without a limit, it can spend everything that you have, and a job can cost more than its estimate.":
    "Ohne Grenze kann alles ausgegeben werden, was Sie haben, und ein Job kann mehr kosten als geschätzt.",
  "More limits": "Weitere Grenzen",
  Name: "Name",
  "When its access ends": "Wie lange der Zugriff gilt",
  Lifetime: "Dauer",
  "in {duration}": "{duration}",
  "in {duration}, as it asks": "{duration}, wie angefragt",
  day: "Tag",
  days: "Tage",
  hour: "Stunde",
  hours: "Stunden",
  minute: "Minute",
  minutes: "Minuten",
  second: "Sekunde",
  seconds: "Sekunden",
  "It ends earlier if you sign out here.": "Er endet früher, wenn Sie sich hier abmelden.",
  "It does not end if you sign out here.": "Er bleibt bestehen, wenn Sie sich hier abmelden.",
  "{apps} – change": "{apps} – ändern",
  "Which apps it can use": "In welchen Apps",
  "Only these apps": "Nur in diesen Apps",
  "Other apps": "Andere Apps",
  "App names": "Namen der Apps",
  "Use the name from the app’s documentation. Separate several names with commas.":
    "Verwenden Sie den Namen aus der Dokumentation der App. Trennen Sie mehrere Namen mit Kommas.",
  "All apps": "Alle Apps",
  "More rights": "Weitere Rechte",
  "Access to other services": "Zugriff auf andere Dienste",
  "Act as me at {providers}": "In meinem Namen handeln bei {providers}",
  "other services": "anderen Diensten",
  "It can get your access tokens for these services. The limits above do not apply to them.":
    "Das gibt Zugriff auf Ihre Token für diese Dienste. Die Grenzen oben gelten dort nicht.",
  "Operating the service": "Den Dienst betreiben",
  "Let it operate the service as me": "Den Dienst in meinem Namen betreiben lassen",
  "It can see every account and change credits, plans and access.":
    "Damit lassen sich alle Konten sehen und Credits, Tarife und Zugriffe ändern.",
  "The limits above do not apply to this. Every action is recorded in the audit log under your name.":
    "Die Grenzen oben gelten dafür nicht. Jede Handlung steht unter Ihrem Namen im Audit-Protokoll.",
  "Choose what it can do.": "Wählen Sie, was erlaubt ist.",
  "Choose when the access ends.": "Wählen Sie, wie lange der Zugriff gilt.",
  "You set no limit. Enter one, or confirm below that it can spend everything that you have.":
    "Sie haben keine Grenze festgelegt. Geben Sie eine ein, oder bestätigen Sie unten, dass alles ausgegeben werden darf, was Sie haben.",
  "Enter a whole number of credits from 0 to 1,000,000,000,000.":
    "Geben Sie eine ganze Zahl von Credits von 0 bis 1.000.000.000.000 ein.",
  "Choose a period for each limit.": "Wählen Sie für jede Grenze einen Zeitraum.",
  "There are two limits {period}. Keep one of them.":
    "Zwei Grenzen gelten {period}. Behalten Sie eine davon.",
  "Choose which apps it can use.": "Wählen Sie, in welchen Apps der Zugriff gilt.",
  "Choose at least one app, or choose all apps.": "Wählen Sie mindestens eine App oder alle Apps.",
  "You selected single apps and all apps. Choose one of the two.":
    "Sie haben einzelne Apps und zugleich alle Apps gewählt. Entscheiden Sie sich für eines von beiden.",
  "Choose at most {most} apps, or all.": "Wählen Sie höchstens {most} Apps oder alle.",
  "“{name}” is not a valid app name. Use lowercase letters, digits, dots, dashes and underscores.":
    "„{name}“ ist kein gültiger Name einer App. Erlaubt sind Kleinbuchstaben, Ziffern, Punkte, Bindestriche und Unterstriche.",
  "Go back to the app and start again.": "Gehen Sie zurück zur App und beginnen Sie noch einmal.",
  "Close this page. If it happens again, tell the people who make the app what this page says.":
    "Schließen Sie diese Seite. Wenn es wieder geschieht, melden Sie dem Hersteller der App, was hier steht.",
  "We do not know which app this is": "Wir wissen nicht, welche App das ist",
  "The request has no client_id. Nothing was shared or changed.":
    "Die Anfrage hat keine client_id. Es wurde nichts weitergegeben oder geändert.",
  "The request has client_id more than once. Nothing was shared or changed.":
    "Die Anfrage hat client_id mehr als einmal. Es wurde nichts weitergegeben oder geändert.",
  "We do not know where to send you back to":
    "Wir wissen nicht, wohin wir Sie zurückschicken sollen",
  "The request has no redirect_uri. Nothing was shared or changed.":
    "Die Anfrage hat keine redirect_uri. Es wurde nichts weitergegeben oder geändert.",
  "The request has redirect_uri more than once. Nothing was shared or changed.":
    "Die Anfrage hat redirect_uri mehr als einmal. Es wurde nichts weitergegeben oder geändert.",
  "We do not know this app": "Wir kennen diese App nicht",
  "It is not registered here, or its description cannot be read. Nothing was shared or changed.":
    "Sie ist hier nicht registriert, oder ihre Beschreibung lässt sich nicht lesen. Es wurde nichts weitergegeben oder geändert.",
  "This app uses another’s name": "Diese App trägt einen fremden Namen",
  "Nobody registered it here, and it calls itself like this service or an app that is registered here. Nothing was shared or changed.":
    "Sie ist hier nicht registriert und nennt sich wie dieser Dienst oder wie eine registrierte App. Es wurde nichts weitergegeben oder geändert.",
  "Someone may be trying to get your access. Close this page.":
    "Vielleicht versucht jemand, an Ihren Zugriff zu kommen. Schließen Sie diese Seite.",
  "This app cannot be connected": "Diese App lässt sich nicht verbinden",
  "Nobody registered it here, so it would act under the name of its host, which is too long or is the name of an app that is registered here. Nothing was shared or changed.":
    "Sie ist hier nicht registriert und träte deshalb unter dem Namen ihres Hosts auf. Der ist zu lang oder gehört einer registrierten App. Es wurde nichts weitergegeben oder geändert.",
  "The app did not register the address that it named. Someone may be trying to get your access. The address:":
    "Die App hat die Adresse, die sie nennt, nicht registriert. Vielleicht versucht jemand, an Ihren Zugriff zu kommen. Die Adresse:",
  "The app registered {registered}. localhost, 127.0.0.1 and [::1] are different addresses, also if they lead to the same machine: its developer must use the same one in both places.":
    "Registriert hat die App {registered}. localhost, 127.0.0.1 und [::1] sind verschiedene Adressen, auch wenn sie zum selben Rechner führen: An beiden Stellen muss dieselbe stehen.",
  "You are not signed in": "Sie sind nicht angemeldet",
  "The app wanted to connect without showing you a page. Nothing was shared or changed.":
    "Die App wollte sich verbinden, ohne Ihnen eine Seite zu zeigen. Es wurde nichts weitergegeben oder geändert.",
  "Sign in, then start again in the app.":
    "Melden Sie sich an und beginnen Sie dann in der App noch einmal.",
  "This request is too long": "Diese Anfrage ist zu lang",
  "It is too long to be kept while you sign in. Nothing was shared or changed.":
    "Sie ist zu lang, um sie während der Anmeldung aufzubewahren. Es wurde nichts weitergegeben oder geändert.",
  "This form cannot be used": "Dieses Formular kann nicht verwendet werden",
  "It was not made by this service, or is too old. Nothing was shared or changed.":
    "Es stammt nicht von diesem Dienst oder ist zu alt. Es wurde nichts weitergegeben oder geändert.",
  "The client's document breaks rules. Nothing was shared or changed.":
    "Das Dokument des Clients verletzt Regeln. Es wurde nichts weitergegeben oder geändert.",
  "Development reads the document again each time: mend it, then load this page again.":
    "In der Entwicklung wird das Dokument jedes Mal neu gelesen: Berichtigen Sie es und laden Sie diese Seite neu.",
  "{app} cannot be connected": "{app} lässt sich nicht verbinden",
  "It sent a request that is not valid: {error} Nothing was shared or changed.":
    "Die Anfrage der App ist nicht gültig: {error} Es wurde nichts weitergegeben oder geändert.",
  "If you trust {host}, you can go back to it with this error. Otherwise close this page.":
    "Wenn Sie {host} vertrauen, können Sie mit dieser Fehlermeldung dorthin zurückgehen. Andernfalls schließen Sie diese Seite.",
  "Go back to {app}": "Zurück zu {app}",
  "Too many connections": "Zu viele Verbindungen",
  "Your account has as many devices, apps and tokens as it can have, so {app} cannot be connected.":
    "Ihr Konto hat so viele Geräte, Apps und Token, wie es haben kann. Deshalb lässt sich {app} nicht verbinden.",
  "End the access of one that you no longer need. Then load this page again.":
    "Beenden Sie einen Zugriff, den Sie nicht mehr brauchen. Laden Sie dann diese Seite neu.",
  "Your connections": "Ihre Verbindungen",
  "Try again": "Noch einmal versuchen",
  "Approve this job?": "Diesen Job genehmigen?",
  "{asker} wants to spend more than its limit allows, for this one job.":
    "{asker} möchte für diesen einen Job mehr ausgeben, als die Grenze erlaubt.",
  App: "App",
  Job: "Job",
  "Costs at most": "Kostet höchstens",
  "Asked by": "Anfrage von",
  "Its limit": "Grenze",
  "None any more": "Keine mehr",
  "{limit}: {spent} spent, {room} left": "{limit}: {spent} ausgegeben, {room} übrig",
  "{limit}: {spent} spent ({approved} of them approved beyond it), {room} left":
    "{limit}: {spent} ausgegeben (davon {approved} darüber hinaus genehmigt), {room} übrig",
  "Your balance": "Ihr Guthaben",
  "– not enough for this job": "– zu wenig für diesen Job",
  "Approve only if you expect this job. Its credits count as spent, so the limit stays used up afterwards.":
    "Genehmigen Sie nur, wenn Sie diesen Job erwarten. Seine Credits zählen als ausgegeben, die Grenze bleibt danach also ausgeschöpft.",
  "Decide by {time}.": "Entscheiden Sie bis {time}.",
  "Your balance is {short}, so the job cannot start yet.":
    "Ihr Guthaben ist um {short} zu niedrig, deshalb kann der Job noch nicht starten.",
  "{credits} short": "{credits}",
  "Buy credits, then return to this page and approve.":
    "Kaufen Sie Credits, kehren Sie auf diese Seite zurück und genehmigen Sie dann.",
  "Buy credits": "Credits kaufen",
  Approve: "Genehmigen",
  "You return to {name} when you have decided.":
    "Sobald Sie entschieden haben, geht es zurück zu {name}.",
  "Back to {name}": "Zurück zu {name}",
  "You can close this page and go back to the app or program.":
    "Sie können diese Seite schließen und zur App oder zum Programm zurückgehen.",
  "Job approved": "Job genehmigt",
  "You approved this job": "Sie haben diesen Job genehmigt",
  "The app or program can start “{action}” for at most {credits} until {time}.":
    "Die App oder das Programm kann „{action}“ bis {time} für höchstens {credits} starten.",
  "Job denied": "Job abgelehnt",
  "You denied this job": "Sie haben diesen Job abgelehnt",
  "“{action}” was not started, and your limit stays as it is. If you did not expect this request, check {link}.":
    "„{action}“ wurde nicht gestartet, und Ihre Grenze bleibt, wie sie ist. Wenn Sie diese Anfrage nicht erwartet haben, prüfen Sie, {link}.",
  "what has access": "wer Zugriff hat",
  "Approval used": "Genehmigung verbraucht",
  "This approval was used": "Diese Genehmigung ist verbraucht",
  "You approved “{action}”, and the job was started. An approval is good for one job. Find it in your {link}.":
    "Sie haben „{action}“ genehmigt, und der Job wurde gestartet. Eine Genehmigung gilt für einen Job. Sie finden ihn unter {link}.",
  jobs: "Jobs",
  "This request is for another account": "Diese Anfrage gehört zu einem anderen Konto",
  "You are signed in.": "Sie sind angemeldet.",
  "This account has no such request, and only the account that the app or program uses can decide. Nothing was approved.":
    "In diesem Konto gibt es diese Anfrage nicht, und entscheiden kann nur das Konto, das die App oder das Programm verwendet. Es wurde nichts genehmigt.",
  "If this is the right account, the link is incomplete or too old: start the job again in the app or program, and open the new link.":
    "Wenn es das richtige Konto ist, ist der Link unvollständig oder zu alt: Starten Sie den Job in der App oder im Programm noch einmal und öffnen Sie den neuen Link.",
  "Sign in with another account": "Mit einem anderen Konto anmelden",
  "This request has expired": "Diese Anfrage ist abgelaufen",
  "A request to approve a job is valid for 15 minutes.":
    "Eine Anfrage zur Genehmigung eines Jobs gilt 15 Minuten.",
  "Start the job again in the app or program, and open the new link.":
    "Starten Sie den Job in der App oder im Programm noch einmal und öffnen Sie den neuen Link.",
  "Nothing to approve any more": "Hier gibt es nichts mehr zu genehmigen",
  "The connection that requested this job was revoked or has expired.":
    "Die Verbindung, die diesen Job angefragt hat, wurde widerrufen oder ist abgelaufen.",
  "Connect the app or program again, and start the job there.":
    "Verbinden Sie die App oder das Programm neu und starten Sie dort den Job.",
  "Connect a device": "Gerät verbinden",
  "Enter the code that your device shows.": "Geben Sie den Code ein, den Ihr Gerät zeigt.",
  "Does your device show this code? Continue only if you started this yourself. If someone sent you a link, close this page.":
    "Zeigt Ihr Gerät diesen Code? Gehen Sie nur weiter, wenn Sie das selbst begonnen haben. Wenn Ihnen jemand einen Link geschickt hat, schließen Sie diese Seite.",
  Code: "Code",
  "Connect this device?": "Dieses Gerät verbinden?",
  "Error: connect this device": "Fehler: Dieses Gerät verbinden",
  "It calls itself": "Nennt sich",
  "no name": "kein Name",
  "It is for": "Für die App",
  "{app} (not registered here)": "{app} (hier nicht registriert)",
  Started: "Begonnen",
  "just now ({time}), from {place}": "gerade eben ({time}), Ort: {place}",
  "{minutes} min ago ({time}), from {place}": "vor {minutes} Min. ({time}), Ort: {place}",
  "an unknown location": "unbekannt",
  "– not the country that you are in now": "– nicht das Land, in dem Sie jetzt sind",
  "The code on your device": "Der Code auf Ihrem Gerät",
  "It starts with {beginning}. Enter the four letters after that.":
    "Er beginnt mit {beginning}. Geben Sie die vier Buchstaben ein, die darauf folgen.",
  "The letters of the code": "Die Buchstaben des Codes",
  "Enter the last four letters of the code on your device.":
    "Geben Sie die letzten vier Buchstaben des Codes auf Ihrem Gerät ein.",
  "These letters do not match this code. Check your device. If it shows another code, choose Deny.":
    "Diese Buchstaben passen nicht zu diesem Code. Sehen Sie auf Ihrem Gerät nach. Wenn es einen anderen Code zeigt, wählen Sie „Ablehnen“.",
  "{only_yours}, just now, on a device that you can see. If someone sent you here or asks you for these letters, choose Deny.":
    "{only_yours}, und zwar gerade eben auf einem Gerät, das Sie vor sich haben. Wenn jemand Sie hierher geschickt hat oder nach diesen Buchstaben fragt, wählen Sie „Ablehnen“.",
  "Approve only if you started this yourself":
    "Genehmigen Sie nur, wenn Sie das selbst begonnen haben",
  "Device connected": "Gerät verbunden",
  "Go back to your device. It will be signed in within a few seconds.":
    "Gehen Sie zurück zu Ihrem Gerät. Es ist in wenigen Sekunden angemeldet.",
  "You can close this window or view {link}.":
    "Sie können dieses Fenster schließen oder {link} ansehen.",
  "your devices and tokens": "Ihre Geräte und Token",
  "Request denied": "Anfrage abgelehnt",
  "The device was not connected, and this code cannot be used any more.":
    "Das Gerät wurde nicht verbunden, und dieser Code gilt nicht mehr.",
  "If someone sent you this code, do not reply to them. They may be trying to get into your account.":
    "Wenn Ihnen jemand diesen Code geschickt hat, antworten Sie nicht. Vielleicht versucht jemand, in Ihr Konto zu kommen.",
  "This request was denied": "Diese Anfrage wurde abgelehnt",
  "The device was not connected. If this was a mistake, start again on your device.":
    "Das Gerät wurde nicht verbunden. Wenn das ein Versehen war, beginnen Sie auf Ihrem Gerät noch einmal.",
  "This code has expired": "Dieser Code ist abgelaufen",
  "The device was not connected. Start again on your device and enter the new code.":
    "Das Gerät wurde nicht verbunden. Beginnen Sie auf Ihrem Gerät noch einmal und geben Sie den neuen Code ein.",
  "This code was already used": "Dieser Code wurde schon verwendet",
  "A code works only once. If you did not use it, start again on your device.":
    "Ein Code gilt nur einmal. Wenn Sie ihn nicht verwendet haben, beginnen Sie auf Ihrem Gerät noch einmal.",
  "Error: unknown code": "Fehler: Unbekannter Code",
  "Unknown code": "Unbekannter Code",
  "Check the code on your device and enter it again. It has 8 letters, without vowels and digits.":
    "Prüfen Sie den Code auf Ihrem Gerät und geben Sie ihn noch einmal ein. Er hat 8 Buchstaben, keine Vokale und keine Ziffern.",
  "Wait {seconds} seconds, then try again.":
    "Warten Sie {seconds} Sekunden und versuchen Sie es dann noch einmal.",
  "Your code keeps working until it expires.": "Ihr Code gilt weiter, bis er abläuft.",
  "Your code keeps working until it expires, and your choices are kept here.":
    "Ihr Code gilt weiter, bis er abläuft, und Ihre Angaben sind hier noch da.",

  // The account's overview, jobs and statement
  "Your balance is {credits}. {held}.": "Ihr Guthaben beträgt {credits}. {held}.",
  "Nothing held": "Nichts reserviert",
  "You can start new jobs when the balance is above zero again.":
    "Neue Jobs können Sie starten, sobald das Guthaben wieder über null liegt.",
  "Held credits are set aside for running jobs. When a job ends, you pay what it cost, and the rest is available again.":
    "Reservierte Credits sind für laufende Jobs zurückgelegt. Endet ein Job, zahlen Sie, was er gekostet hat, und der Rest ist wieder verfügbar.",
  "You get your first credits when you open an app that uses this account.":
    "Ihre ersten Credits erhalten Sie, sobald Sie eine App öffnen, die dieses Konto verwendet.",
  "This account gets no starter credits: you had an account before, or this one began with a passkey or in an app with its own sign-in.":
    "Dieses Konto erhält kein Startguthaben: Sie hatten schon einmal ein Konto, oder Sie haben dieses mit einem Passkey oder in einer App mit eigener Anmeldung eröffnet.",
  "You got {given} from {apps}.": "Sie haben {given} von {apps} erhalten.",
  "starter credit": "Credit Startguthaben",
  "starter credits": "Credits Startguthaben",
  "When an app runs a job for you, you pay with credits. A chart of your balance appears here with the first job.":
    "Wenn eine App einen Job für Sie ausführt, zahlen Sie mit Credits. Mit dem ersten Job erscheint hier ein Diagramm Ihres Guthabens.",
  "The most recent part of the last 30 days.": "Der jüngste Teil der letzten 30 Tage.",
  "Since your account was opened.": "Seit Eröffnung Ihres Kontos.",
  "The last 30 days.": "Die letzten 30 Tage.",
  "Balance from {first} to {last} credits, between {least} and {most}.":
    "Guthaben: am Anfang {first}, am Ende {last} Credits, dazwischen {least} bis {most}.",
  "Balance over time": "Verlauf des Guthabens",
  "Balance over time, in numbers": "Verlauf des Guthabens in Zahlen",
  "no balance yet": "noch kein Guthaben",
  "Show the numbers": "Zahlen anzeigen",
  From: "Ab",
  "Recent jobs": "Neueste Jobs",
  "All jobs": "Alle Jobs",
  "No app has run a job for you yet. Jobs appear here as soon as they start.":
    "Noch keine App hat einen Job für Sie ausgeführt. Jobs erscheinen hier, sobald sie starten.",
  "Spending by app": "Ausgaben nach App",
  "{credits} in the last 30 days": "{credits} in den letzten 30 Tagen",
  "You have spent nothing in the last 30 days. What each app’s jobs cost appears here.":
    "In den letzten 30 Tagen haben Sie nichts ausgegeben. Hier steht, was die Jobs der einzelnen Apps kosten.",
  Share: "Anteil",
  Credits: "Credits",
  job: "Job",
  "other app": "andere App",
  "other apps": "andere Apps",
  You: "Sie",
  "not verified": "nicht bestätigt",
  Plan: "Tarif",
  "Next credits": "Nächste Credits",
  "{credits} on {day}": "{credits} am {day}",
  "Member since": "Mitglied seit",
  "Account id": "Konto-ID",
  "Matching jobs": "Passende Jobs",
  "Only jobs that one app, connection or token started.":
    "Nur Jobs, die eine bestimmte App, eine Verbindung oder ein Token gestartet hat.",
  "Show all jobs": "Alle Jobs anzeigen",
  Pages: "Seiten",
  "Newest jobs": "Neueste Jobs",
  "Older jobs": "Ältere Jobs",
  Status: "Status",
  Any: "Alle",
  Show: "Anzeigen",
  "No jobs match.": "Kein Job passt zum Filter.",
  "No app has run a job for you yet. When one does, its result and cost appear here.":
    "Noch keine App hat einen Job für Sie ausgeführt. Danach stehen Ergebnis und Kosten hier.",
  "The app did not finish it in time.": "Die App ist nicht rechtzeitig fertig geworden.",
  "The app did not say why.": "Die App hat keinen Grund genannt.",
  "{percent}%": "{percent} %",
  Progress: "Fortschritt",
  Refunded: "Erstattet",
  "Partly refunded": "Teilweise erstattet",
  "{count} held": "{count} reserviert",
  "token “{name}”": "Token „{name}“",
  "{name}, not registered here": "{name}, hier nicht registriert",
  "by {starter}": "von {starter}",
  "Started by {starter}.": "Gestartet von {starter}.",
  "You, in a browser": "Ihnen, im Browser",
  "this job": "diesem Job",
  Cost: "Kosten",
  "What happened to your credits": "Was mit Ihren Credits geschah",
  "The job is running. When it ends, you pay what it cost, and the rest is available again.":
    "Der Job läuft. Wenn er endet, zahlen Sie, was er gekostet hat, und der Rest ist wieder verfügbar.",
  "If it times out, you pay {credits}.": "Läuft seine Zeit ab, zahlen Sie {credits}.",
  "It cost {cost}, and {count} was given back.":
    "Er hat {cost} gekostet, davon wurde {count} zurückgegeben.",
  "It cost {cost}, and {count} were given back.":
    "Er hat {cost} gekostet, davon wurden {count} zurückgegeben.",
  "You were not charged.": "Es wurde nichts abgerechnet.",
  "It cost {more} more than the {held} that were held.":
    "Er hat {more} mehr gekostet als die {held}, die reserviert waren.",
  "{held} was held while it ran.": "{held} war reserviert, solange er lief.",
  "{held} were held while it ran.": "{held} waren reserviert, solange er lief.",
  "Started by": "Gestartet von",
  "This job: {state}": "Dieser Job: {state}",
  Action: "Aktion",
  "Spent so far": "Bisher ausgegeben",
  "Times out": "Läuft ab",
  "Last change": "Letzte Änderung",
  "Job id": "Job-ID",
  "The job ends now, as if it had timed out.":
    "Der Job endet sofort, als wäre seine Zeit abgelaufen.",
  "The job ends now, and you pay {credits}.": "Der Job endet sofort, und Sie zahlen {credits}.",
  "If its app still completes it, you pay what it cost.":
    "Schließt seine App ihn trotzdem ab, zahlen Sie, was er gekostet hat.",
  "Cancel this job": "Diesen Job abbrechen",
  "Yes, cancel it now": "Ja, jetzt abbrechen",
  Result: "Ergebnis",
  "What the app stored": "Was die App gespeichert hat",
  "Metadata of the app": "Metadaten der App",
  "Statement, {month}": "Kontoauszug, {month}",
  "Newest of {month}": "Neueste im {month}",
  "Older in {month}": "Ältere im {month}",
  "The CSV file has every change of {month}: each time credits were held, charged or given back.":
    "Die CSV-Datei enthält jede Änderung im {month}: jedes Mal, wenn Credits reserviert, abgerechnet oder zurückgegeben wurden.",
  "Download as CSV": "Als CSV herunterladen",
  "A month begins at midnight UTC.": "Ein Monat beginnt um Mitternacht UTC.",
  "Nothing here matches the filter.": "Nichts passt zum Filter.",
  "Your credits have not changed this month.":
    "Ihr Guthaben hat sich in diesem Monat noch nicht geändert.",
  "Your credits did not change in this month.":
    "Ihr Guthaben hat sich in diesem Monat nicht geändert.",
  Months: "Monate",
  Spent: "Ausgegeben",
  Added: "Hinzugekommen",
  Balance: "Guthaben",
  "Balance at the end": "Guthaben am Ende",
  "At the start": "Am Anfang",
  "Held credits are yours until their job ends. The balance and the held credits are {sum} together: those at the start, less what was spent, with what was added.":
    "Reservierte Credits gehören Ihnen, bis ihr Job endet. Guthaben und reservierte Credits ergeben zusammen {sum}: den Stand am Anfang, abzüglich der Ausgaben und zuzüglich dessen, was hinzukam.",
  Purchases: "Käufe",
  "Everything else": "Alles andere",
  Kind: "Art",
  Everything: "Alles",
  Anyone: "Alle",
  balance: "Guthaben",
  "Open this job": "Diesen Job öffnen",
  When: "Wann",
  What: "Was",
  "Balance after": "Guthaben danach",
  "began in an earlier month": "in einem früheren Monat begonnen",
  "Ended in a later month": "In einem späteren Monat beendet",
  "{count} more held": "{count} zusätzlich reserviert",
  "{count} no longer held": "{count} freigegeben",
  "{count} given back": "{count} zurückgegeben",
  "{state}, {count} given back": "{state}, {count} zurückgegeben",
  "{refund}: {count} of {cost}": "{refund}: {count} von {cost}",
  "Failed, not charged": "Fehlgeschlagen, nicht abgerechnet",
  "{refund} in a later month": "{refund} in einem späteren Monat",
  "{count} refunded by the operator": "{count} vom Betreiber erstattet",
  "{cost} charged": "{cost} abgerechnet",
  "{cost} charged, {count} no longer held": "{cost} abgerechnet, {count} freigegeben",
  "{cost} charged, {count} more than was held": "{cost} abgerechnet, {count} mehr als reserviert",

  // Access, security and data
  "See all and stop": "Alle ansehen und stoppen",
  "Only this browser can use your account, with the apps in which you signed in here. Nothing else has access.":
    "Nur dieser Browser kann Ihr Konto verwenden, mit den Apps, in denen Sie hier angemeldet sind. Sonst hat nichts und niemand Zugriff.",
  "No app, connection or token can use your account by itself now.":
    "Zurzeit kann keine App, keine Verbindung und kein Token Ihr Konto von sich aus verwenden.",
  "To add a device, {enter}, or {make}.": "Um ein Gerät hinzuzufügen, {enter} oder {make}.",
  "enter the code that it shows": "geben Sie den Code ein, den es anzeigt,",
  "make a token": "erstellen Sie ein Token",
  "never used": "nie verwendet",
  "used {day}": "verwendet am {day}",
  "not added up": "nicht zusammengezählt",
  "spent this month": "diesen Monat",
  "{count} spent this month": "{count} diesen Monat ausgegeben",
  "And {others}.": "Außerdem {others}.",
  "{count} more": "{count} weitere",
  "other browser": "anderer Browser",
  "other browsers": "andere Browser",
  "Apps that sign you in with {services} can use your account, also if they are not listed.":
    "Apps, in denen Sie sich mit {services} anmelden, können Ihr Konto verwenden, auch wenn sie hier nicht stehen.",
  "Only this browser can use your account, with the apps in which you signed in here. The apps below are stopped.":
    "Nur dieser Browser kann Ihr Konto verwenden, mit den Apps, in denen Sie hier angemeldet sind. Die Apps unten sind gestoppt.",
  "{others} can use your account. You can stop each of them here.":
    "Außer diesem Browser haben Zugriff auf Ihr Konto: {others}. Hier können Sie jeden Zugriff beenden.",
  app: "App",
  apps: "Apps",
  connection: "Verbindung",
  connections: "Verbindungen",
  token: "Token",
  tokens: "Token",
  "{spent} spent in {month}": "{spent} im {month} ausgegeben",
  "{spent} spent in {month}, {ended} of them by what no longer has access":
    "{spent} im {month} ausgegeben, davon {ended} durch Zugriffe, die es nicht mehr gibt",
  "Too many jobs ended this month to add them up here.":
    "In diesem Monat sind zu viele Jobs zu Ende gegangen, um sie hier zusammenzuzählen.",
  Apps: "Apps",
  "Your account is not open for any app.": "Ihr Konto ist für keine App geöffnet.",
  "Apps that you opened. Each can use your whole balance for its own jobs, also while you are away. If you stop one, nothing but you can start jobs for it.":
    "Apps, die Sie geöffnet haben. Jede kann Ihr ganzes Guthaben für ihre eigenen Jobs verwenden, auch wenn Sie nicht da sind. Wenn Sie eine stoppen, können nur noch Sie selbst Jobs für sie starten.",
  stopped: "gestoppt",
  paused: "pausiert",
  "The operator paused this app: “{message}”": "Der Betreiber hat diese App pausiert: „{message}“",
  "Not registered here": "Hier nicht registriert",
  "No address registered": "Keine Adresse registriert",
  "no job yet": "noch kein Job",
  "1 running job": "1 laufender Job",
  Stop: "Stoppen",
  "Stop {name}": "{name} stoppen",
  "Allow again": "Wieder erlauben",
  Connections: "Verbindungen",
  "Apps and agents that you connected. Each keeps to the limits that you gave it.":
    "Apps und Agenten, die Sie verbunden haben. Jede Verbindung hält sich an die Grenzen, die Sie gesetzt haben.",
  "No app or agent is connected.": "Es ist keine App und kein Agent verbunden.",
  Tokens: "Token",
  "Devices and programs that you signed in.": "Geräte und Programme, die Sie angemeldet haben.",
  "No device or program has a token.": "Kein Gerät und kein Programm hat ein Token.",
  "If you revoke one, it stops at once.": "Wenn Sie einen Zugriff widerrufen, endet er sofort.",
  "One for a resource stops there within ten minutes. What the resource does itself is not seen here: “last used” is when its access was renewed or checked.":
    "Der Zugriff auf eine Ressource endet dort innerhalb von zehn Minuten. Was die Ressource selbst tut, ist hier nicht zu sehen: „Zuletzt verwendet“ ist der Tag, an dem der Zugriff erneuert oder geprüft wurde.",
  "Make a token": "Token erstellen",
  Edit: "Bearbeiten",
  "Edit {name}": "{name} bearbeiten",
  Revoke: "Widerrufen",
  "Revoke {name}": "{name} widerrufen",
  "The month of “spent this month” is that of UTC.":
    "„Diesen Monat“ nennt die Ausgaben seit Monatsbeginn (UTC).",
  "Agent or service, with a part of the access above it":
    "Agent oder Dienst mit einem Teil des Zugriffs darüber",
  "Device or program": "Gerät oder Programm",
  "Registered app": "Registrierte App",
  "Part of {service_name}": "Teil von {service_name}",
  "App of {host}, not registered here": "App von {host}, hier nicht registriert",
  "in {apps}": "in {apps}",
  "Can read {where}.": "Darf {where} lesen.",
  "Can read and spend {where}.": "Darf {where} lesen und Credits ausgeben.",
  "Has no access to your account.": "Hat keinen Zugriff auf Ihr Konto.",
  "Can use {resource} as you.": "Darf {resource} in Ihrem Namen verwenden.",
  "Each use can cost you credits, {where}.": "Jede Verwendung kann Sie {where} Credits kosten.",
  "Signs you in.": "Meldet Sie an.",
  "Can also get your access tokens for other services.":
    "Kann auch Ihre Zugriffstoken für andere Dienste erhalten.",
  "Can operate the service, as long as you are an operator.":
    "Darf den Dienst betreiben, solange Sie Betreiber sind.",
  "No limit but your balance.": "Keine Grenze außer Ihrem Guthaben.",
  "{spent} of {credits} credits {period} spent":
    "{spent} von {credits} Credits {period} ausgegeben",
  "{count} of them in jobs that you approved": "davon {count} in Jobs, die Sie genehmigt haben",
  "resets {time}": "beginnt neu am {time}",
  "Used up: it starts no job without a new approval.":
    "Aufgebraucht: Ohne neue Genehmigung startet kein Job mehr.",
  "last used {time}": "zuletzt verwendet am {time}",
  "Made {made}, {used}, ends {end}.": "Erstellt am {made}, {used}, läuft am {end} ab.",
  "Made {made}, {used}, ends {end}, or when the sign-in that approved it ends.":
    "Erstellt am {made}, {used}, läuft am {end} ab oder mit der Anmeldung, in der Sie ihn genehmigt haben.",
  "Revoke “{name}”?": "„{name}“ widerrufen?",
  "It stops at once, and its running jobs end. If an app still completes one, you pay what it cost.":
    "Der Zugriff endet sofort, und laufende Jobs enden. Schließt eine App einen davon noch ab, zahlen Sie, was er gekostet hat.",
  "It gets no new access at once. At {resource} it stops within ten minutes.":
    "Neuer Zugriff ist sofort ausgeschlossen. Bei {resource} endet der Zugriff innerhalb von zehn Minuten.",
  "So does everything below it: {count}.": "Das gilt auch für alles darunter: {count}.",
  "agent or service": "Agent oder Dienst",
  "agents and services": "Agenten und Dienste",
  "Tokens for other services that it already got work there until they expire.":
    "Schon abgerufene Token für andere Dienste gelten dort, bis sie ablaufen.",
  "You cannot undo this; connect it again if you need it.":
    "Das lässt sich nicht rückgängig machen. Bei Bedarf können Sie die Verbindung neu herstellen.",
  "Stop {name}?": "{name} stoppen?",
  "Its server and its pages no longer see your balance or your statement.":
    "Ihr Guthaben und Ihren Kontoauszug sieht die App nicht mehr, weder auf ihrem Server noch auf ihren Seiten.",
  "Its pages get no new tokens from us, neither for your account nor for other services.":
    "Die Seiten der App erhalten von uns keine neuen Token, weder für Ihr Konto noch für andere Dienste.",
  "Its connections end for good; those to a resource stop there within ten minutes. To use them again, you must connect the app again.":
    "Die Verbindungen der App enden endgültig; der Zugriff auf eine Ressource endet dort innerhalb von zehn Minuten. Um sie wieder zu verwenden, müssen Sie die App neu verbinden.",
  "Until you sign out, its pages may still learn your name and your e-mail address.":
    "Bis Sie sich abmelden, können die Seiten der App noch Ihren Namen und Ihre E-Mail-Adresse erfahren.",
  "job is started": "Job läuft noch",
  "jobs are started": "Jobs laufen noch",
  "Jobs that were started before can still finish, and you pay what they cost, but no more than was estimated or is set aside for them.":
    "Schon gestartete Jobs dürfen fertig werden. Sie zahlen, was sie kosten, aber nicht mehr, als dafür geschätzt wurde oder reserviert ist.",
  "Jobs that were started before end now, as if their time had run out. If the app still completes one, you pay what it cost, but no more than was estimated or set aside for it.":
    "Schon gestartete Jobs enden jetzt, als wäre ihre Zeit abgelaufen. Schließt die App einen trotzdem ab, zahlen Sie, was er gekostet hat, aber nicht mehr, als dafür geschätzt wurde oder reserviert war.",
  "Edit “{name}”": "„{name}“ bearbeiten",
  "Nothing was changed.": "Es wurde nichts geändert.",
  "The change applies from its next request.": "Die Änderung gilt ab der nächsten Anfrage.",
  "What is spent stays spent.": "Was ausgegeben ist, bleibt ausgegeben.",
  "It never gets more than the connection that it comes from.":
    "Mehr als die Verbindung, von der sie abgeleitet ist, darf sie nie.",
  Save: "Speichern",
  "Give the connection a name of up to 80 visible characters.":
    "Geben Sie der Verbindung einen Namen mit höchstens 80 sichtbaren Zeichen.",
  "Error: make a token": "Fehler: Token erstellen",
  "A program sends a token instead of signing in. Give it only what the program needs: with the token, anyone can do the same.":
    "Mit einem Token weist sich ein Programm aus, statt sich anzumelden. Erlauben Sie nur, was das Programm braucht: Wer das Token hat, kann dasselbe tun.",
  "Make the token": "Token jetzt erstellen",
  "What it is for, such as “Nightly build”. You see it in the list of your tokens.":
    "Wofür das Token ist, zum Beispiel „Nächtlicher Build“. Der Name steht in der Liste Ihrer Token.",
  "Give the token a name of up to 80 visible characters.":
    "Geben Sie dem Token einen Namen mit höchstens 80 sichtbaren Zeichen.",
  "Choose when the token expires.": "Wählen Sie, wann das Token abläuft.",
  "Your new token": "Ihr neues Token",
  "Copy the token now. It is not stored, and you cannot see it again.":
    "Kopieren Sie das Token jetzt. Es wird nicht gespeichert und nicht noch einmal angezeigt.",
  "Programs send it as {header}.": "Programme senden es als {header}.",
  "It expires in 1 day; you can revoke it at any time.":
    "Es läuft in einem Tag ab; Sie können es jederzeit widerrufen.",
  "It expires in {days} days; you can revoke it at any time.":
    "Es läuft in {days} Tagen ab; Sie können es jederzeit widerrufen.",
  Browsers: "Browser",
  "more browser": "weiterer Browser",
  "more browsers": "weitere Browser",
  "This browser": "Dieser Browser",
  "this browser": "dieser Browser",
  "A browser": "Ein Browser",
  "{program} on {system}": "{program} unter {system}",
  "signed in {time}": "angemeldet am {time}",
  "{sign_ins}, the last {time}": "{sign_ins}, die letzte am {time}",
  "sign-in": "Anmeldung",
  "sign-ins": "Anmeldungen",
  End: "Beenden",
  "End {count}": "{count} beenden",
  other: "andere",
  others: "andere",
  "sessions of {name}": "Sitzungen von {name}",
  "Also revoke all connections and tokens": "Auch alle Verbindungen und Token widerrufen",
  "Sign out everywhere": "Überall abmelden",
  "This signs out every browser, including this one. Open apps notice within 15 minutes. Tokens, and connections that may stay connected, keep their access unless you tick the box; those that you approved through an app’s sign-in always lose it. Apps keep theirs until you stop them.":
    "Damit melden Sie jeden Browser ab, auch diesen. Offene Apps bemerken es innerhalb von 15 Minuten. Token, und Verbindungen, die verbunden bleiben dürfen, behalten ihren Zugriff, solange Sie das Kästchen nicht ankreuzen; haben Sie sie über die Anmeldung einer App genehmigt, verlieren sie ihn immer. Apps behalten ihren Zugriff, bis Sie sie stoppen.",
  session: "Sitzung",
  sessions: "Sitzungen",
  "End {count}?": "{count} beenden?",
  "That browser has to sign in again.": "In diesem Browser müssen Sie sich neu anmelden.",
  "Those browsers have to sign in again.": "In diesen Browsern müssen Sie sich neu anmelden.",
  "Open apps notice within 15 minutes.": "Offene Apps bemerken es innerhalb von 15 Minuten.",
  "Also revoke {count} approved there": "Auch widerrufen, was dort genehmigt wurde: {count}",
  "connection or token": "Verbindung oder Token",
  "connections and tokens": "Verbindungen und Token",
  "How you sign in": "So melden Sie sich an",
  "This is your only way to sign in, so it cannot be removed.":
    "Das ist Ihre einzige Möglichkeit, sich anzumelden, deshalb lässt sie sich nicht entfernen.",
  passkey: "Passkey",
  "since {day}": "seit {day}",
  "not used yet": "noch nicht verwendet",
  "Link {name}": "{name} verknüpfen",
  Unlink: "Trennen",
  Remove: "Entfernen",
  Development: "Entwicklung",
  "Add a passkey": "Passkey hinzufügen",
  "With a passkey you sign in by your fingerprint, your face or your screen lock. Add one for each device or password manager that you use.":
    "Mit einem Passkey melden Sie sich per Fingerabdruck, Gesicht oder Bildschirmsperre an. Fügen Sie für jedes Gerät und jeden Passwortmanager, den Sie verwenden, einen hinzu.",
  "Name of a new passkey": "Name des neuen Passkeys",
  "You have no recovery code. With one, you can sign in if you lose your passkeys.":
    "Sie haben keinen Wiederherstellungscode. Mit ihm können Sie sich anmelden, wenn Sie Ihre Passkeys verlieren.",
  "Your recovery code is from {day}. A new one replaces it, and ends what you signed in or approved with the old one.":
    "Ihr Wiederherstellungscode ist vom {day}. Ein neuer ersetzt ihn und beendet alles, was Sie mit dem alten angemeldet oder genehmigt haben.",
  "Make a recovery code": "Wiederherstellungscode erstellen",
  "Make a new recovery code": "Neuen Wiederherstellungscode erstellen",
  "Where you are signed in, and what else can use your account, is on the page {access}.":
    "Wo Sie angemeldet sind und was sonst Ihr Konto verwenden kann, steht auf der Seite {access}.",
  "Your data": "Ihre Daten",
  "Download everything that this service stores about you as one JSON file.":
    "Laden Sie alles, was dieser Dienst über Sie speichert, als JSON-Datei herunter.",
  "You can also {delete}.": "Sie können auch {delete}.",
  "delete your account": "Ihr Konto löschen",
  "Delete your account": "Konto löschen",
  "The account of {holder} will be deleted immediately.":
    "Das Konto von {holder} wird sofort gelöscht.",
  "This cannot be undone.": "Das lässt sich nicht rückgängig machen.",
  "You lose": "Sie verlieren",
  "{credits}, including credits that you bought, without a refund":
    "{credits}, auch gekaufte, ohne Erstattung",
  "{held}, which may not finish": "{held}; vielleicht wird das nicht mehr fertig",
  "access from every browser and app where you are signed in":
    "den Zugriff aus jedem Browser und jeder App, in denen Sie angemeldet sind",
  "access from every browser and app where you are signed in, and from {devices}":
    "den Zugriff aus jedem Browser und jeder App, in denen Sie angemeldet sind, dazu {devices}",
  "device or token": "Gerät oder Token",
  "devices and tokens": "Geräte und Token",
  "your jobs and statement, your name and e-mail address":
    "Ihre Jobs und Ihren Kontoauszug, Ihren Namen und Ihre E-Mail-Adresse",
  "What stays": "Was bleibt",
  "everything that apps made for you: ask each app to delete it":
    "alles, was Apps für Sie erstellt haben: Bitten Sie jede App, es zu löschen",
  "an anonymous code, so that you do not get starter credits again if you open a new account":
    "ein anonymer Code, damit Sie mit einem neuen Konto nicht noch einmal Startguthaben erhalten",
  "a debt of {credits}: you owe it again if you open a new account":
    "eine Schuld von {credits}: Mit einem neuen Konto schulden Sie sie wieder",
  "You operate this service. If OPERATORS contains your identity id, you lose operator access until someone adds the identity id of your new account.":
    "Sie betreiben diesen Dienst. Wenn Ihre Identitäts-ID in OPERATORS steht, verlieren Sie den Zugriff als Betreiber, bis jemand die Identitäts-ID Ihres neuen Kontos einträgt.",
  "If you want to keep a copy, first {download}.":
    "Wenn Sie eine Kopie behalten möchten, {download}.",
  "download your data": "laden Sie vorher Ihre Daten herunter",
  "Keep my account": "Mein Konto behalten",
  "Type {word} to confirm": "Geben Sie zur Bestätigung {word} ein",
  "Nothing was deleted. Type only the word “{word}”.":
    "Es wurde nichts gelöscht. Geben Sie nur das Wort „{word}“ ein.",
  "Delete my account": "Mein Konto löschen",
  "Your account is deleted": "Ihr Konto ist gelöscht",
  "No browser, app, device or token can use it any more. Its data will be erased within minutes, or within a day if an app or a part of the service does not respond.":
    "Kein Browser, keine App, kein Gerät und kein Token kann es mehr verwenden. Die Daten werden in wenigen Minuten gelöscht, oder innerhalb eines Tages, wenn eine App oder ein Teil des Dienstes nicht antwortet.",
  "Thank you for using {service_name}. You can sign in at any time to open a new account.":
    "Danke, dass Sie {service_name} genutzt haben. Sie können sich jederzeit anmelden, um ein neues Konto zu eröffnen.",
  "Go to the sign-in page": "Zur Anmeldung",

  // Purchases and automatic top-up
  Buy: "Kaufen",
  "Buy for {price}": "Für {price} kaufen",
  "usable for {days}": "{days} lang nutzbar",
  "Stripe takes the payment; taxes may be added there.":
    "Die Zahlung läuft über Stripe; dort können Steuern hinzukommen.",
  "Stripe shows the price and takes the payment.":
    "Stripe zeigt den Preis und nimmt die Zahlung entgegen.",
  "Your credits arrive as soon as the payment is confirmed.":
    "Ihre Credits sind da, sobald die Zahlung bestätigt ist.",
  "{top_up} buys them before they run out.": "{top_up} kauft neue, bevor sie aufgebraucht sind.",
  "All purchases": "Alle Käufe",
  "No purchases.": "Keine Käufe.",
  "Older purchases": "Ältere Käufe",
  "refunded, {credits} taken back": "erstattet, {credits} zurückgenommen",
  Receipt: "Beleg",
  "for {name}": "für {name}",
  "the app": "der App",
  "the approval": "der Genehmigung",
  "Check again": "Noch einmal prüfen",
  "Choose a package": "Paket wählen",
  "The payment was refunded later, and credits were taken back.":
    "Die Zahlung wurde später erstattet, und Credits wurden zurückgenommen.",
  "Your balance is {count}.": "Ihr Guthaben beträgt {count}.",
  "Automatic top-up": "Automatisches Aufladen",
  "Buys credits for you when your balance runs low, so that jobs do not stop. Stripe keeps your card; Passbook never sees its number. Saving the card charges nothing.":
    "Kauft Credits für Sie nach, wenn Ihr Guthaben knapp wird, damit Jobs nicht stehen bleiben. Stripe bewahrt Ihre Karte auf; Passbook sieht ihre Nummer nie. Für das Speichern der Karte wird nichts abgebucht.",
  "Next attempt: {time}": "Nächster Versuch: {time}",
  "Charged this month": "Diesen Monat abgebucht",
  "{spent} of at most {limit}": "{spent} von höchstens {limit}",
  Card: "Karte",
  "{brand} ending in {digits}": "{brand} mit den Endziffern {digits}",
  "Buy credits by hand": "Credits selbst kaufen",
  "Switch off": "Ausschalten",
  "Leave it off": "Ausgeschaltet lassen",
  "Set it up": "Einrichten",
  "Your choice": "Ihre Auswahl",
  "Nothing was saved. Correct what is marked below.":
    "Es wurde nichts gespeichert. Berichtigen Sie, was unten markiert ist.",
  Package: "Paket",
  "Choose a package with a fixed price.": "Wählen Sie ein Paket mit festem Preis.",
  "When fewer credits are available than": "Wenn weniger Credits verfügbar sind als",
  "Enter a whole number from 1 to {most}.": "Geben Sie eine ganze Zahl von 1 bis {most} ein.",
  "At most in a calendar month": "Höchstens im Kalendermonat",
  "Enter an amount from {least}, the price of the package, to {most}.":
    "Geben Sie einen Betrag von {least}, dem Preis des Pakets, bis {most} ein.",
  "An amount of money in the currency of the package, such as 50.00. Nothing beyond it is charged automatically.":
    "Ein Betrag in der Währung des Pakets, zum Beispiel 50,00. Mehr wird nicht automatisch abgebucht.",
  "Save a card at Stripe": "Karte bei Stripe speichern",
  "Switch on with this card": "Mit dieser Karte einschalten",
  "Save with another card": "Mit einer anderen Karte speichern",
  "By this you allow us to charge your card without asking you each time, within this limit. You can switch it off at any time.":
    "Damit erlauben Sie uns, Ihre Karte innerhalb dieser Grenze zu belasten, ohne jedes Mal zu fragen. Sie können es jederzeit ausschalten.",
  "How it works": "So funktioniert es",
  "One payment buys as many packages as bring you back to the threshold.":
    "Eine Zahlung kauft so viele Pakete, dass Ihr Guthaben die Schwelle wieder erreicht.",
  "Payments that are under way count for the month’s limit, so it is never exceeded. Months are in UTC.":
    "Auch Zahlungen, die noch unterwegs sind, zählen zur Grenze des Monats; sie wird also nie überschritten. Monate gelten nach UTC.",
  "A failed payment is tried again after an hour. After three, it is switched off.":
    "Eine fehlgeschlagene Zahlung wird nach einer Stunde wiederholt. Nach drei Fehlschlägen wird das Aufladen ausgeschaltet.",
  "Jobs do not wait for a payment.": "Jobs warten nicht auf eine Zahlung.",
  "Automatic payments": "Automatische Zahlungen",
} as const;
