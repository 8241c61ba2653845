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
  "You are signed out in every browser. Open apps notice within 15 minutes. Devices and tokens that you approved keep their access; you can revoke them on the page Access.":
    "Sie sind in allen Browsern abgemeldet. Offene Apps bemerken es innerhalb von 15 Minuten. Geräte und Token, die Sie genehmigt haben, behalten ihren Zugriff; auf der Seite Zugriff können Sie ihn widerrufen.",
  "You are signed out in every browser, and all devices and tokens have lost their access. Open apps notice within 15 minutes.":
    "Sie sind in allen Browsern abgemeldet, und alle Geräte und Token haben ihren Zugriff verloren. Offene Apps bemerken es innerhalb von 15 Minuten.",
  "Linked. You can now sign in this way.": "Verknüpft. So können Sie sich jetzt anmelden.",
  "Unlinked. You can no longer sign in this way, and everything that you approved with it has lost its access.":
    "Verknüpfung gelöst. So können Sie sich nicht mehr anmelden, und alles, was Sie damit genehmigt haben, hat keinen Zugriff mehr.",
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
  "Off. Stripe did not accept the saved card.":
    "Aus. Stripe hat die gespeicherte Karte nicht angenommen.",
  "It may have expired or been removed. Nothing more is charged. Save the card again, or another one.":
    "Sie ist vielleicht abgelaufen oder wurde entfernt. Es wird nichts mehr abgebucht. Speichern Sie die Karte noch einmal oder eine andere.",
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
    "Wenn Sie weitergehen, kann {host} Ihr Konto und dessen Credits verwenden.",
  Continue: "Weiter",
  "Continue as {person}": "Weiter als {person}",
  "Use another account": "Anderes Konto verwenden",
  "Back to the page Security": "Zurück zur Seite Sicherheit",
  "You stopped {app}": "Sie haben {app} gestoppt",
  "It cannot use your account.": "Die App kann Ihr Konto nicht verwenden.",
  "It can start no more jobs, and no other app or token can start jobs for it.":
    "Sie kann keine Jobs mehr starten, und keine andere App und kein Token kann Jobs für sie starten.",
  "If you allow the app again, its server and its pages can use your credits as before.":
    "Wenn Sie die App wieder erlauben, können ihr Server und ihre Seiten Ihre Credits verwenden wie zuvor.",
  "Allow {app} again": "{app} wieder erlauben",
  "Keep it stopped": "Gestoppt lassen",
  "Passkeys need JavaScript. Allow it for this page to use them.":
    "Passkeys brauchen JavaScript. Erlauben Sie es für diese Seite, um sie zu verwenden.",
  "This browser has no passkeys. Use a newer browser, over https.":
    "Dieser Browser kann keine Passkeys. Verwenden Sie einen neueren Browser über https.",
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
    "Ein Konto, das mit einem Passkey beginnt, bekommt kein Startguthaben.",
  "To get them, {link} first, and add a passkey afterwards on the page Security.":
    "Wenn Sie es bekommen möchten, {link} und fügen Sie danach auf der Seite Sicherheit einen Passkey hinzu.",
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
    "Sie sind angemeldet. Der verwendete Code gilt nicht mehr. Das ist Ihr neuer.",
  "Your account is ready.": "Ihr Konto ist bereit.",
  "Your recovery code": "Ihr Wiederherstellungscode",
  "recovery-code.txt": "wiederherstellungscode.txt",
  "Recovery code of your account at {service}, {host}. It works once.":
    "Wiederherstellungscode Ihres Kontos bei {service}, {host}. Er gilt einmal.",
  Download: "Herunterladen",
  "If you lose your passkeys, you can sign in with this code. It works once; then you get a new one. Download it, write it down or keep it in a password manager, and show it to nobody.":
    "Wenn Sie Ihre Passkeys verlieren, können Sie sich mit diesem Code anmelden. Er gilt einmal; danach bekommen Sie einen neuen. Laden Sie ihn herunter, schreiben Sie ihn auf oder legen Sie ihn in einem Passwortmanager ab, und zeigen Sie ihn niemandem.",
  "We show it only now.": "Wir zeigen ihn nur jetzt.",
  "If you lose it, make a new one on the page Security while you can still sign in. If you lose it and all other ways to sign in, nobody can open your account again, and its credits are lost.":
    "Wenn Sie ihn verlieren, erstellen Sie auf der Seite Sicherheit einen neuen, solange Sie sich noch anmelden können. Wenn Sie ihn und alle anderen Wege der Anmeldung verlieren, kann niemand mehr Ihr Konto öffnen, und seine Credits sind verloren.",
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
  "Other ways to sign in": "Andere Wege der Anmeldung",
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

  // The account's overview, jobs and statement

  // Access, security and data

  // Purchases and automatic top-up
} as const;
