/**
 * Names under which strangers get names of their own: the private section of the Public Suffix List
 * (publicsuffix.org). Made by `npm run suffixes`; each line a top-level name, then what lies under it. A
 * name behind a star stands for all that lies under it too.
 */
export const HOSTING_SUFFIXES = `ac drr feedback forms sch
academy official
ag obj
ai framer kiloapps uwu
am radio
app agilevibes aiven base44 beget botdash brave s.brave claude clerk clerkstage cloudflare cloudzyro codepen convex corespeed crbts csb preview.csb developer e2b easypanel edgecompute encr frontend.encr relay.evervault expo on.expo staging.expo flutterflow framer gadget github glideos hackclub hasura hosted leapcell loginline lovable auth.lovable luyani magicpatterns medusajs messerli miren mocha modelence cloud.modelence sandbox.modelence netlify ngrok ngrok-free noop northflank nyat on-fleek ondigitalocean onhercules pplx puter up.railway replit id.replit retool rocketpreview run mtls.run shiptoday sliplane snowflake privatelink.snowflake spawnbase sprites streamlit telebit typedream upsun vercel wal wasmer web windsurf wnext zeabur zerops
apple int cloud.int
army dns v6
asia cloudns daemon dix
at 123webseite 12hp 2ix 4 4lima dnshome wien.funkfeuer futurecms ex.futurecms in.futurecms futurehosting futuremailing lima-city my myspreadshop ex.ortsinfo kunden.ortsinfo priv
au cloudlets.com myspreadshop.com
aws *on *sagemaker private.repost
ba shop.brendly rs
bar resolve
basketball aus nz
be 123website cloudns cloud.interhostsolutions ezproxy.kuleuven my myspreadshop transurl webhosting site.webhosting
berlin ddns
bg barsy
biz activetrail cloud-ip cloudns dscloud dyndns for-better for-more for-some for-the jozi mmafan myftp no-ip orx selfip webhop
bn co
bot apps.grok pages.grok
box sail
br simplesite.com ac.leg al.leg am.leg ap.leg ba.leg ce.leg df.leg es.leg go.leg ma.leg mg.leg ms.leg mt.leg pa.leg pb.leg pe.leg pi.leg pr.leg rj.leg rn.leg ro.leg rr.leg rs.leg sc.leg se.leg sp.leg to.leg tche
bs we
build shiptoday v0 windsurf
builders cloudsite
business co
by mediatech
bz gsj mydns za
ca awdev barsy box co myspreadshop no-ip onid
camp at.emf
casa ui.nabu
case sav
cc ccwu cleverapps cloud-ip cloudns csx ec eu fantasyleague ftpaccess game-server gu myphotos scrapping instances.spawn sryze twmail uk us
cd cc
ch 123website 12hp 2ix 4lima cloudns cust.cloudscale lpg.cloudscale rma.cloudscale dnsking firenet svc.firenet ae.flow appengine.flow gotdns lima-city linkyard-cloud myspreadshop lpg.objectstorage rma.objectstorage square7
ci us
cl cloudns
cloud antagonist es-1.axarnet begetcdn convex eu-west-1.convex us-east-1.convex diadem dnshome elementor emergent eu.encoway hstgr vip.jelastic jele aruba.jenv-aruba it1.jenv-aruba jote jotelulu elastic.k2 ru-msk.k2 ru-spb.k2 s3.k2 website.k2 keliweb cs.keliweb kuleuven laravel linkyard magentosite matlab observablehq on-rancher online-server runs.onstackit oxa tn.oxa uk.oxa primetel uk.primetel ravendb ca.reclaim uk.reclaim us.reclaim baremetal.scw fr-par.scw instances.scw k8s.scw nl-ams.scw pl-waw.scw scalebook.scw smartlabeling.scw servebolt statics trafficplex ch.trendhosting de.trendhosting unison-services urown vapor voorloper zap
club barsy cloudns jele
cn canva-apps canva-code my.canvasite amazonaws.com amazonwebservices.com sagemaker.com khsj myqnapcloud direct.quickconnect as.sh
co carrd crd firewalledreplit id.firewalledreplit hidns leadpages lpages mypi otap clusters.rdpa srvrless.rdpa repl id.repl supabase realtime.supabase storage.supabase umso xmit
codes owo
com *amazonaws *amazoncognito *elasticbeanstalk 0emm 180r 1cooldns 1kapp 3utilities 4u a2hosted abrdns adobeaemcloud dev.adobeaemcloud africa aivencloud alibabacloudcs amazonlightsail cs.amazonlightsail amplifyapp appchizi applinzi apps-1and1 appspacehosted appspaceusercontent appspot r.appspot atlassian-3p atlassian-3p-us-gov-mod atlassian-isolated-3p atmeta auiusercontent authgear-staging authgearapps awsapprunner awsapps awsglobalaccelerator balena-devices barsycenter barsyonline base44-sandbox blogdns blogspot blogsyte boutir bplaced br builtwithdark bumbleshrimp cafjs canva-apps canva-hosted-embed canvacode cdn77-storage cechire cf-ipfs ciscofreak claudeusercontent frame.claudeusercontent services.clever-cloud cloudflare-ipfs cn co builder.code dev-builder.code stg-builder.code codespot cprapid cpserver cursorusercontent customer-oci oci.customer-oci ocp.customer-oci ocs.customer-oci damnserver aws.databricksapps azure.databricksapps gcp.databricksapps demo.datadetect instance.datadetect dattolocal dattorelay dattoweb ddnsfree ddnsgeek ddnsguru ddnsking de deployagent deus-canvas devinapps digitaloceanspaces discordsays discordsez ditchyourip dnsabr dnsalias dnsdojo dnsiskinky doesntexist dojin dontexist doomdns dopaas drayddns dreamhosters drive-platform dsmynas durumis dyn-o-saur dynalias dyndns-at-home dyndns-at-work dyndns-blog dyndns-free dyndns-home dyndns-ip dyndns-mail dyndns-office dyndns-pics dyndns-remote dyndns-server dyndns-web dyndns-wiki dyndns-work dynns dynuddns dynuhosting preview.emergentagent encoreapi est-a-la-maison est-a-la-masion est-le-patron est-mon-blogueur eu eu1-plenit eu-1.evennode eu-2.evennode eu-3.evennode eu-4.evennode us-1.evennode us-2.evennode us-3.evennode us-4.evennode familyds fastly-edge fastly-terrarium fastvps-server apps.fbsbx object.fin-ncloudstorage private.fin-ncloudstorage firebaseapp firewall-gateway fldrv forgeblocks framercanvas freebox-os freeboxos freemyip from-ak from-al from-ar from-ca from-ct from-dc from-de from-fl from-ga from-hi from-ia from-id from-il from-in from-ks from-ky from-ma from-md from-mi from-mn from-mo from-ms from-mt from-nc from-nd from-ne from-nh from-nj from-nm from-nv from-oh from-ok from-or from-pa from-pr from-ri from-sc from-sd from-tn from-tx from-ut from-va from-vt from-wa from-wi from-wv from-wy geekgalaxy gentapps gentlentapis getmyip giize githubusercontent gleeze googleapis googlecode gotdns gotpantheon kr.gov-ncloudstorage kr-private.gov-ncloudstorage object.gov-ncloudstorage private.gov-ncloudstorage gr grayjayleagues hatenablog hatenadiary health-carereform hercules-app hercules-dev herokuapp compute.herokuapp hk hobby-site homelinux homesecuritymac homesecuritypc homeunix hosted-by-files paas.hosted-by-previder hostedpi rag-cloud.hosteur rag-cloud-ch.hosteur hotelwithflight iamallama jcloud.ik-server jcloud-ver-jpc.ik-server ip-ddns is-a-anarchist is-a-blogger is-a-bookkeeper is-a-bulls-fan is-a-caterer is-a-chef is-a-conservative is-a-cpa is-a-cubicle-slave is-a-democrat is-a-designer is-a-doctor is-a-financialadvisor is-a-geek is-a-green is-a-guru is-a-hard-worker is-a-hunter is-a-landscaper is-a-lawyer is-a-liberal is-a-libertarian is-a-llama is-a-musician is-a-nascarfan is-a-nurse is-a-painter is-a-personaltrainer is-a-photographer is-a-player is-a-republican is-a-rockstar is-a-socialist is-a-student is-a-teacher is-a-techie is-a-therapist is-an-accountant is-an-actor is-an-actress is-an-anarchist is-an-artist is-an-engineer is-an-entertainer is-certified is-gone is-into-anime is-into-cars is-into-cartoons is-into-games is-leet is-not-certified is-slick is-uberleet is-with-theband isa-geek isa-hockeynut issmarterthanyou it jdevcloud demo.jelastic jpn kasserver kozow la1-plenit ladesk likes-pie likescandy members.linode nodebalancer.linode linodeobjects ip.linodeusercontent live-website localtonet logoip loseyourip lovableproject lpusercontent lutrausercontent magicpatternsapp paas.massivegrid messwithdns metaaiusercontent meteorapp eu.meteorapp mex miniserver mochausercontent modelscape mwcloudnonprod myactivedirectory myasustor mycloudnas mydatto mydbserver mydobiss myiphost mynascloud myoxypages myqnapcloud mysecuritycamera myshopblocks myshopify myspreadshop mytabit caracal.mythic-beasts customer.mythic-beasts fentiger.mythic-beasts lynx.mythic-beasts ocelot.mythic-beasts oncilla.mythic-beasts onza.mythic-beasts sphinx.mythic-beasts vs.mythic-beasts x.mythic-beasts yali.mythic-beasts mytuleap myvnc objectstorage.ncloud kr.ncloudstorage kr-naver.ncloudstorage kr-naver-dev.ncloudstorage kr-private.ncloudstorage object.ncloudstorage private.ncloudstorage website.ncloudstorage object.ncpstorage private.ncpstorage neat-url net-freaks nfshost ninjaneer-sites cloud.nospamproxy oaiusercontent static.observableusercontent on-aptible on-forge on-vapor onrender onthewifi ooguy operaunite oraclecloudapps oraclegovcloudapps orsites outsystemscloud ownprovider pagespeedmobilizer paywhirl pgfog pivohosting pixolino playstation-cloud pleskns point2this polyspace postman-echo xen.prgmr dev.project-study pythonanywhere eu.pythonanywhere qa2 qbuser qualifioapp qualyhqpartner qualyhqportal quicksytes quipelements rackmaze readthedocs-hosted remotewd app.render reservd rhcloud rice-labs routingthecloud ru sa sakuratan sakuraweb platform.salesforce same-app same-preview saves-the-whales scrysec securitytactics selfip sells-for-less sells-for-u servebbs servebeer servecounterstrike serveexchange serveftp servegame servehalflife servehttp servehumour serveirc servemp3 servep2p servepics servequake servesarcasm shopitsite siiites simple-url simplesite sinaapp smushcdn space-to-rent stackhero-network strapiapp media.strapiapp streak-link streaklinks streakusercontent streamlitapp stufftoread subsc-pay taveusercontent site.tb-hosting teaches-yoga temp-dns theworkpc thingdustdata townnews-staging try-snowplow trycloudflare tuleap-partners pro.typeform uk unusualperson upsunapp us us1-plenit vipsinaapp vivenushop vultrobjects w-corp-staticblitz w-credentialless-staticblitz w-staticblitz jed.wafaicloud ryd.wafaicloud wafflecell webadorsite webspace-host pages.wiardweb wiredbladehosting withgoogle withyoutube wixsite wixstudio woltlab-demo workisboring wpdevcloud wpenginepowered js.wpenginepowered wphostedmail wpmucdn writesthisblog x0 xtooldevice yolasite za ztna-dingtalk
community myforum nog ravendb
company mybox
cool de elementor
cv dev store
cx assessments ath calculators cloudns funnels info paynow quizzes researched tests
cy scaleforce.com
cz co rsc.contentproxy9 e4 cloud.metacentrum custom.metacentrum cloud.muni realm
de 123webseite 12hp 2ix 4lima barsy bplaced bwcloud-os-instance co com community-pro dyn.cosidns ddnss dyn.ddnss dyndns.ddnss ddnssec diskussionsbereich dnshome dnsupdater dyn-berlin dyn-ip24 dynamisches-dns dyndns1 dyndnssec firewall-gateway frusky fuettertdasnetz git-repos goip gov heimdns home-webserver dyn.home-webserver home64 it.hs-heilbronn in-berlin in-brb in-butter in-dsl in-vpn internet-dns ipv64 iservschule isteingeek istmein keymachine l-o-g-i-n lcube-server lebtimnetz leitungsen lima-city logoip mein-iserv my my-gateway my-router myhome-server myspreadshop rub ruhr-uni-bochum noc.ruhr-uni-bochum schuldock schulplattform schulserver spdns customer.speedpartner square7 srvdns svn-repos taifun-dns test-iserv traeumtgerade virtual-user virtualuser webspaceconfig xenonconnect xn--gnstigbestellen-zvb xn--gnstigliefern-wob
design bss graphic
dev abyme barsy bearblog botdash brave s.brave codepen aa.crm ab.crm ac.crm ad.crm ae.crm af.crm ci.crm d.crm pa.crm pb.crm pc.crm pd.crm pe.crm pf.crm w.crm wa.crm wb.crm wc.crm wd.crm we.crm wf.crm deno deno-staging erp web.erp relay.evervault fly gateway githubpreview grebedoc hrsn inbrowser is-a is-a-fullstack is-a-good is-cool is-not-a iserv lcl lclstage leapcell user.localcert localplayer loginline lp api.lp objects.lp mediatech mocha-sandbox modx myaddr ngrok ngrok-free pagelemon pages panel payload platter-app r2 reliantlabs sites.reliantlabs reliantpreview replit teams.replit runcontainers stg stgstage t3.storage t3.storageapi vercel vivenushop webhare workers xmit
direct libp2p
diy discourse
dk 123hjemmeside biz co firm myspreadshop reg store
ec base official
edu git-pages.rit
education co
email intouch p.tawk p.tawkto
es 123miweb myspreadshop
estate compute
eu on.amazonwebservices barsy cloudns deuxfleurs directwp dnshome jelastic.dogado nxa prvw spdns transurl
eus user.party
events co koobin
fan mkm
fast space view
fi 123kotisivu fi.cloudplatform dy iki kapsi myspreadshop xn--hkkinen-5wa
financial co
fm radio user
fo co com
fr 123siteweb aeroport avocat chambagri chirurgiens-dentistes chirurgiens-dentistes-en-france dedibox experts-comptables fbx-os fbxos freebox-os freeboxos goupile kdns medecin myspreadshop notaires on-web pharmacien port veterinaire ynh
fun ms vicp yicp zicp
games pley sheezy
gay pages
gdn cnpy
ge ddns
gg botdash kaas panel daemon.panel at.ply d6.ply stackit
global appwrite
goog cloud translate usercontent
gr barsy simplesite
group discourse
gw nx
health hra
hk inc ltd
host app.amba cdn.amba fn.amba go.amba bolt cloudaccess easypanel emergent fastvps freesite gadget half iserv jele mircloud myfast tempurl voati wp2 wpmudev
hosting opencraft
hr shop.brendly
ht rt
id e zone
ie myspreadshop
il mytabit.co ravpage.co tabitorder.co
in barsy cloudns indevs supabase web
info barrel-of-knowledge barrell-of-knowledge barsy cloudns dnsupdate dvrcam dynamic-dns dyndns for-our forumz groks-the groks-this here-for-more ilovecollege knowsitall mayfirst mittwald mittwaldserver no-ip nsupdate selfip typo3server v-info webhop
io 2038 apigee azurecontainer b-data barsy basicserver beagleboard paas.beebyte sekd1.beebyteapp bitbucket bluebite boxfuse brave s.brave browsersafetymark cdn.bubble bubbleapps cleverapps cloudbeesusercontent dyndns.dappnode darklang dedyn definima drive-platform editorx edugit fh-muenster id.forgerock gitbook github gitlab hasura-app hostyhosting hypernode icp0 raw.icp0 icp1 raw.icp1 jele keenetic kiloapps apps.lair loginline lolipop mo-siemens moonscale musician myaddr myrdbx ngrok ap.ngrok au.ngrok eu.ngrok in.ngrok jp.ngrok sa.ngrok us.ngrok stage.nodeart on-k3s on-rio pantheonsite pstmn mock.pstmn qcx sys.qcx qoto qzz site.rb-hosting readthedocs resindevice devices.resinstaging sandcats client.scrypted stolos telebit terramind dev.thingdust disrec.thingdust prod.thingdust testing.thingdust tickets utwente vaporcloud virtualserver webflow webflowtest webthings wixstudio wz
ir arvanedge vistablog
it 123homepage 16-b 32-b 64-b dnshome ibxos iliadboxos myspreadshop jc.neen syncloud
je of
jp 0am 0g0 0j0 0t0 2-d angry babyblue babymilk backdrop bambina bitter blush bona boo boy boyfriend but buyshop candypop capoo catfood cheap chicappa chillout chips chowder chu ciao cocotte coolblog cranky crap cutegirl daa daynight deca deci digick eek egoism fakefur fashionstore fem flier flop floppy fool frenchkiss girlfriend girly gloomy gonna greater hacca halfmoon handcrafted hateblo hatenablog hatenadiary heavy her hiho hippy holy hungry icurus itigo jeez jellybean kawaiishop kikirara kill kilo kuron littlestar lolipopmc lolitapunk lomo lovepop lovesick main matrix mimoza mods mond mongolian moo mydns namaste aseinet.ne gehirn.ne ivory.ne mail-box.ne mints.ne mokuren.ne opal.ne sakura.ne sumomo.ne topaz.ne netgamers nikita nobushi noor nyanta o0o0 oops parallel parasite pecori peewee penne pepper perma pgw pigboat pinoko punyu pupu pussycat pya raindrop rdy readymade rgr rulez sadist isk01.sakurastorage isk02.sakurastorage saloon sblo schoolbus secret skr staba stripper sub sunnyday supersale tank theshop thick tonkotsu uh-oh under undo upper usercontent velvet verse versus vivian watson rs.webaccel user.webaccel weblike websozai whitesnow wjg xii zombie
kg ae us xx
kr c01 eliv-api eliv-cdn eliv-dns mmv vki
krd co edu
kz jcloud
la bnr
lc oy
limo eth
link canva cyon dweb eth inbrowser joinmc keenetic myfritz mypep ipfs.nftstorage ipfs.storacha ipfs.w3s
live aem ewp hlx
lol omg
lu 123website
md ir
me barsy brasilia c66 craft ddns diskstation dnsfor dscloud edgestack filegear filegear-sg grok seprox.hooc hopto i234 loginto lohmus mcdir mybox myds nohost noip opencloud soundcast synology tcp4 site.transip vp4 webhop xwx
media framer
menu barsy barsyonline
mn nyc
mobi barsy dscloud
mp ju
ms minisite
name forgot.her forgot.his ispmanager keenetic
navy dns v6
net *azurestaticapps *azurewebsites adobeaemcloud adobeio-static adobeioruntime akadns akamai akamai-staging akamaiedge akamaiedge-staging akamaihd akamaihd-staging akamaiorigin akamaiorigin-staging akamaized akamaized-staging alwaysdata apps-1and1 appudo at-band-camp prod.atlassian-dev azure-api azure-mobile azureedge azurefd barsy blackbaudcdn blogdns boomla botdash bounceme bplaced broke-it buyshouses casacam cdn-edges cdn77-ssl r.cdn77 channelsdvr u.channelsdvr clickrising cloudaccess cloudapp cloudflare cdn.cloudflare cdn.cloudflareanycast cdn.cloudflarecn cdn.cloudflareglobal cloudfront cloudfunctions cloudjiffy fra1-de.cloudjiffy west1-us.cloudjiffy cloudycluster community-pro ctfcloud dattolocal ddns ddns-ip de5 debian definima deno sandbox.deno dns-cloud dns-dynamic dnsalias dnsdojo dnsup does-it dontexist dsmynas dynalias dynathome dynu dynuddns dynv6 eating-organic edgekey edgekey-staging edgesuite edgesuite-staging jls-sto1.elastx jls-sto2.elastx jls-sto3.elastx endofinternet familyds freetls.fastly map.fastly prod.fastly ssl.fastly fastlylb map.fastlylb feste-ip firewall-gateway from-az from-co from-la from-ny gb gets-it ggff grafana-dev ham-radio-op heteml hicam homeftp homeip homelinux homeunix vps.hrsn hu icp in in-dsl in-the-band in-vpn iobb ipifony ipv64 is-a-chef is-a-geek isa-geek jp keyword-on kicks-ass kinghost knx-server krellian live-on localcert localto luyani mafelo paas.massivegrid meinforum memset moonscale myamaze mydatto mydissent myeffect myfritz mymediapc sn.mynetname mypsx myradweb mysecuritycamera myspreadshop mysynology nhlfan no-ip now-dns office-on-the oninferno opik hosting.ovh webpaas.ovh ownip pgafan podzone privatizehealthinsurance rackmaze redirectme reserve-online routingthecloud ru jelastic.saveincloud nordeste-idc.saveincloud j.scaleforce schokokeks scrapper-site se seidat selfip sells-it senseering servebbs serveblog serveftp serveminecraft server-on shopselect siteleaf spryt square7 squares soc.srcf user.srcf static-access subsc-pay supabase sytes thruhere torproject pages.torproject trafficmanager ts c.ts tunnelmole twmail uk uni5 core.usgovcloudapi servicebus.usgovcloudapi usgovcloudapp usgovtrafficmanager vpndns vps-host jelastic.vps-host vusercontent webhop core.windows servicebus.windows yandexcloud storage.yandexcloud website.yandexcloud za zabc
network aem alces appwrite arvo azimuth co tlon
new builtwithrocket
news noticeable
ng biz co.biz dl.biz go.biz lg.biz on.biz col firm gen ltd ngo plc
nl 123website cistron co demon gov hosting-cluster site.hosting-cluster khplay myspreadshop transurl
no 123hjemmeside co myspreadshop
now dyn here tmp
nu enterprisecloud merseine mine shacknet
nz cloudns
one kin service website
online barsy book eero eero-stage heimdns leapcell websitebuilder
orange tech
org accesscam ae altervista barsy blogdns blogsite bmoattachments boldlygoingnowhere cable-modem camdvr origin.cdn77-secure c.cdn77 rsc.cdn77 cloudns collegefan couchpotatofries ddnss dnsalias dnsdojo doesntexist dontexist doomdns dpdns dsmynas duckdns dvrdns dynalias dyndns go.dyndns home.dyndns dynserv endofinternet endoftheinternet eu al.eu asso.eu at.eu au.eu be.eu bg.eu ca.eu cd.eu ch.eu cn.eu cy.eu cz.eu de.eu dk.eu edu.eu ee.eu es.eu fi.eu fr.eu gr.eu hr.eu hu.eu ie.eu il.eu in.eu int.eu is.eu it.eu jp.eu kr.eu lt.eu lu.eu lv.eu me.eu mk.eu mt.eu my.eu net.eu ng.eu nl.eu no.eu nz.eu pl.eu pt.eu ro.eu ru.eu se.eu si.eu sk.eu tr.eu uk.eu us.eu familyds fedorainfracloud fedorapeople cloud.fedoraproject os.fedoraproject stg.fedoraproject freeddns freedesktop from-me fspages game-host gotdns hatenadiary hepforge hk hobby-site homedns homeftp homelinux homeunix hopto httpbin in-dsl in-vpn ip-dynamic is-a-bruinsfan is-a-candidate is-a-celticsfan is-a-chef is-a-geek is-a-knight is-a-linux-user is-a-patsfan is-a-soxfan is-found is-local is-lost is-saved is-very-bad is-very-evil is-very-good is-very-nice is-very-sweet isa-geek jpn js kicks-ass misconfused mlbfan my-firewall myfirewall myftp mysecuritycamera mywire nflfan no-ip now-dns pimienta podzone poivron potager pubtls read-books readmyblog routingthecloud roxa selfip sellsyourhome servebbs serveftp servegame small-web spdns stuff-4-sale sweetpepper s3.teckids toolforge tunk tuxfamily twmail ufcfan us webhop webredirect wmcloud beta.wmcloud wmflabs wz za zapto
ovh nerdpol
page aem codeberg deuxfleurs heyflow hlx linkyhost mybox mymagic omgs pdns plesk prod prvcy rocky statichost vibekit
ph cloudns
photos framer
pictures 1337
pizza ngrok
pl art beep bielsko cfolks co dfirma dkonto ecommerce-shop gda gdansk gdynia gliwice homesklep iqhs krakow krasnik leczna lodz lubartow lublin med myspreadshop pabianice plock poniatowa poznan sdscloud shoparena sieradz simplesite skierniewice sopot swidnik torun unicloud wroc you2 zakopane zgierz
place co ship
plus playit at.playit with.playit
pm name own
pro barsy cloudns keenetic ngrok
pt 123paginaweb
pub barsy id kin
pw cloudns x443
re can netlib
reviews aem
rip clan
ro barsy co shop
rocks lima-city myddns stackit v6 webspace
rs barsy shop.brendly ox
ru ac adygeya bashkiria bir cbg hb.cldmail com dagestan edu eurodir gov grozny int kalmykia kustanai marine mcdir vps.mcdir mcpre mil mircloud mordovia msk myjino hosting.myjino landing.myjino spectrum.myjino vps.myjino mytis na4u nalchik net nov org pp pyatigorsk ras spb vladikavkaz vladimir
run appwrite build canva cloud code database development liara iran.liara lovable migration needle onporter ravendb repl rwx sanity sm stackit val web.val vercel wix
scot co gov service.gov me mygov org
se 123minsida com iopsys itcouldbewor myspreadshop
services loginline
sg enscaled
sh bearly botda hashbang lovable now ent.platform eu.platform us.platform surge teleport
shop barsy barsyonline base hoplix shopware
show ms
si f5 gitpage
site barsy byen caffeine my.canva chatgpt cloudera co convex eu-west-1.convex us-east-1.convex cpanel cyon docsflowy fastvps figma figma-gov heyflow jele jouwweb loginline madethis medusajs notion novecore omniwe opensocial piebox platformsh playcode preview puter scw ams.scw waw.scw sol sourcecraft square srht support tst wpsquared
so surveys
space app-ionos deployagent heiyu hf static.hf manus myfast project uber vibehost xs4all
st cn helioho kirara noho
store barsy sellfy shopware storebase
studio ai sanity
su abkhazia adygeya aktyubinsk arkhangelsk armenia ashgabad azerbaijan balashov bashkiria bryansk bukhara chimkent dagestan east-kazakhstan exnet georgia grozny ivanovo jambyl kalmykia kaluga karacol karaganda karelia khakassia krasnodar kurgan kustanai lenug mangyshlak mordovia msk murmansk nalchik navoi north-kazakhstan nov obninsk penza pokrovsk sochi spb tashkent termez togliatti troitsk tselinograd tula tuva vladikavkaz vladimir vologda
support barsy
systems miren
team discourse jelastic
tech cleverapps
technology co
tf sch
th online shop
tn orangecloud
to 611 nett direct.quickconnect vpnplus x0
today prequalifyme
tools dyn.addr myaddr
top ntdll wadl
tv better-than dyndns from on-the-web sakura worse-than
tw mymailer.com mydns url
ua biz cc co cx inf ltd pp v
uk barsy adimo.co barsy.co barsyonline.co layershift.co myspreadshop.co nh-serv.co no-ip.co retrosnub.co conn copro api.gov campaign.gov service.gov hosp independent-commission independent-inquest independent-inquiry independent-panel independent-review nimsite oraclegovcloudapps affinitylottery.org glug.org lug.org lugs.org raffleentry.org weeklylottery.org public-inquiry pymnt royal-commission
us azure-api azurewebsites cloudns aws-gov.databricksapps phx.enscaled freeddns golffan heliohost is-by land-4-sale mircloud ngo noip pointto servername srv gh.srv gl.srv stuff-4-sale aberdeen.wa bainbridge-isl.wa bellevue.wa bremerton.wa centralia.wa chehalis.wa forks.wa gig-harbor.wa hoquiam.wa keyport.wa kingston.wa olympia.wa port-angeles.wa port-ludlow.wa port-orchard.wa port-townsend.wa poulsbo.wa redmond.wa renton.wa sea.wa seattle.wa sequim.wa shelton.wa silverdale.wa yarrow-point.wa
uy gv
vc 0e gv d.gv mydns
vip hidns
website framer
wf biz sch
wiki framer
work puter
ws advisor cloud66 dyndns mypets
wtf ddns
xn--p1acf xn--41a xn--80aaa0cvac xn--90a1af xn--90amc xn--c1avg xn--h1ahn xn--h1aliz xn--j1adp xn--j1aef xn--j1ael8b
xyz botdash caffeine exe opentunnel telebit
yt org
zone lima prg1-zerops stackit triton zerops`;
