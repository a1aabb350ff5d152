import type { Language } from "../i18n";

// What each setting is, by its key: the server names the key, the console has the words.

export const settingWords: Readonly<Record<string, Record<Language, string>>> = {
  advertise: {
    en: "host:port under which other nodes reach it; by default the host's name and the port of rpc",
    "zh-CN": "其他节点访问本节点的 host:port；默认是主机名加 rpc 的端口",
  },
  "base-path": {
    en: "where a proxy mounts Porpoise, such as /porpoise",
    "zh-CN": "代理挂载 Porpoise 的路径，例如 /porpoise",
  },
  "cluster-key": {
    en: "file of the cluster's key, the same on every master and apiserver; by default DATA/cluster.key",
    "zh-CN": "集群密钥文件，所有 master 和 apiserver 相同；默认 DATA/cluster.key",
  },
  "cluster-slots": {
    en: "command slots of a new cluster; it never changes afterwards",
    "zh-CN": "新集群的命令槽位数，之后不再改变",
  },
  data: {
    en: "folder of this node's own files; one process at a time",
    "zh-CN": "本节点文件所在目录，同一时间只能由一个进程使用",
  },
  database: {
    en: "mysql:USER:PASSWORD@tcp(HOST:PORT)/NAME, or sqlite:PATH; a standalone node's default is the file in its data folder",
    "zh-CN": "mysql:USER:PASSWORD@tcp(HOST:PORT)/NAME 或 sqlite:PATH；单节点默认使用数据目录中的文件",
  },
  demo: {
    en: "run 3 masters and 3 workers, each a process that you may kill",
    "zh-CN": "运行 3 个 master 和 3 个 worker，各为可以终止的独立进程",
  },
  "demo-restart": {
    en: "when a process of the demo that was killed is started again; 0 is never",
    "zh-CN": "演示中被终止的进程多久后重新启动；0 表示不重启",
  },
  "drain-for": {
    en: "how long a stop waits for running tasks",
    "zh-CN": "停止时等待运行中任务的时间",
  },
  etcd: {
    en: "etcd endpoints, host:port or URLs",
    "zh-CN": "etcd 的地址，host:port 或 URL",
  },
  "etcd-ca": {
    en: "authority that signed etcd's certificate",
    "zh-CN": "签发 etcd 证书的机构",
  },
  "etcd-cert": {
    en: "client certificate for etcd",
    "zh-CN": "访问 etcd 的客户端证书",
  },
  "etcd-key": {
    en: "its key, readable by its owner only",
    "zh-CN": "该证书的私钥文件，只有所有者可读",
  },
  "etcd-listen": {
    en: "IP address and port of the registry for further workers (mutual TLS); none when empty",
    "zh-CN": "供其他 worker 使用的注册中心的 IP 地址和端口（双向 TLS）；为空则不开放",
  },
  "etcd-password": {
    en: "that user's password",
    "zh-CN": "该 etcd 用户的密码",
  },
  "etcd-user": {
    en: "user in etcd",
    "zh-CN": "etcd 中的用户",
  },
  examples: {
    en: "give a new node a project of examples, and run two of them once",
    "zh-CN": "为新节点创建示例项目，并运行其中两个示例各一次",
  },
  groups: {
    en: "worker groups that this worker serves",
    "zh-CN": "本 worker 服务的工作组",
  },
  "heartbeat-batch": {
    en: "attempts in one message; half of what cycle and period allow must hold all slots",
    "zh-CN": "一条消息包含的尝试数；周期与间隔所能容纳的一半须覆盖全部槽位",
  },
  "heartbeat-cycle": {
    en: "every attempt beats once in it; it must fit twice into the timeout",
    "zh-CN": "每个尝试在一个周期内发送一次心跳；超时须至少为周期的两倍",
  },
  "heartbeat-max-retry": {
    en: "tries within one cycle after the first",
    "zh-CN": "同一周期内首次之后的重试次数",
  },
  "heartbeat-period": {
    en: "one message per master in it",
    "zh-CN": "向每个 master 发送一条消息的间隔",
  },
  "heartbeat-timeout": {
    en: "an attempt of which no master speaks for so long is asked about everywhere",
    "zh-CN": "没有 master 提到某个尝试达到这个时间后，会向所有 master 询问",
  },
  http: {
    en: "address of the API and the console",
    "zh-CN": "API 和控制台的地址",
  },
  "http-plain": {
    en: "serve plain HTTP beyond loopback: a proxy or a private network protects it",
    "zh-CN": "在本机以外提供明文 HTTP：由代理或私有网络保护",
  },
  "join-token": {
    en: "lets a new node in (porpoise token join worker)",
    "zh-CN": "允许新节点加入（porpoise token join worker）",
  },
  "join-token-file": {
    en: "file that holds the join token",
    "zh-CN": "保存加入令牌的文件",
  },
  "keep-days": {
    en: "instances and backfills are deleted so many days after their end; 0 is never",
    "zh-CN": "实例和补数在结束多少天后删除；0 表示不删除",
  },
  "keep-fire-days": {
    en: "what became of the fires of schedules is kept so many days, and then as sums",
    "zh-CN": "调度触发的结果保留多少天，之后只保留合计",
  },
  "keep-fires-per-schedule": {
    en: "of one schedule's fires the newest are kept, and the others as sums; 0 is all",
    "zh-CN": "每个调度保留最新的多少次触发，其余只保留合计；0 表示全部保留",
  },
  "keep-per-workflow": {
    en: "of one workflow's instances the newest are kept; 0 is all",
    "zh-CN": "每个工作流保留最新的多少个实例；0 表示全部保留",
  },
  "keep-tasks": {
    en: "leave running tasks to the runner at a stop, for the next start to adopt",
    "zh-CN": "停止时把运行中的任务留给 runner，由下次启动接管",
  },
  label: {
    en: "NAME=VALUE that tasks may ask for by worker_labels; may be given again",
    "zh-CN": "任务可通过 worker_labels 要求的 NAME=VALUE，可多次给出",
  },
  "listeners-reach": {
    en: "which addresses listeners, replies and timers may call: public, private (public and private ones) or any (also this machine's own)",
    "zh-CN": "监听器、回复和定时器可以调用的地址：public、private（公网和私网）或 any（也包括本机）",
  },
  "log-json": {
    en: "write the log as JSON lines",
    "zh-CN": "日志以 JSON 行输出",
  },
  "log-level": {
    en: "trace, debug, info, warn or error",
    "zh-CN": "trace、debug、info、warn 或 error",
  },
  masters: {
    en: "masters to join by; afterwards the registry tells where they are",
    "zh-CN": "加入时联系的 master；之后由注册中心给出",
  },
  node: {
    en: "name of this node; without one it is made up once and kept in the data folder",
    "zh-CN": "本节点的名称；不指定则生成一次并保存在数据目录",
  },
  pprof: {
    en: "loopback address that serves Go profiles of this process, such as 127.0.0.1:6060",
    "zh-CN": "提供本进程 Go 性能分析的本机地址，例如 127.0.0.1:6060",
  },
  relaxed: {
    en: "answer before a commit is on the disk: a power loss may lose the last ones",
    "zh-CN": "在提交落盘前应答：断电可能丢失最后几次提交",
  },
  rpc: {
    en: "address for the other nodes (mutual TLS); port 0 is any",
    "zh-CN": "供其他节点使用的地址（双向 TLS）；端口 0 表示任意",
  },
  "schedule-least-interval": {
    en: "the shortest time between two fires that a schedule may be saved with",
    "zh-CN": "保存调度时允许的两次触发之间的最短间隔",
  },
  "schedule-plan-ahead": {
    en: "how far ahead the fires of schedules have their rows",
    "zh-CN": "提前多久写入调度触发的记录",
  },
  "secret-key-file": {
    en: "file of the keys that seal secrets, the same on every master and apiserver; default DATA/secret-key",
    "zh-CN": "加密密钥所用的密钥文件，所有 master 和 apiserver 相同；默认 DATA/secret-key",
  },
  "secure-cookies": {
    en: "mark cookies Secure, because a proxy in front speaks TLS",
    "zh-CN": "因前面的代理使用 TLS，将 cookie 标记为 Secure",
  },
  slots: {
    en: "attempts that run at once",
    "zh-CN": "同时运行的尝试数",
  },
  "surge-starts": {
    en: "starts a second that projects with more than 100 get together beyond these, while another project starts less; 0 is no bound",
    "zh-CN": "当有其他项目启动较少时，每秒启动超过 100 次的项目在此之外合计可得的每秒启动数；0 表示不限",
  },
  "supervise-every": {
    en: "how often the supervisor looks for what is stuck, while this master is it",
    "zh-CN": "本 master 担任监督者时检查卡住任务的间隔",
  },
  "tls-cert": {
    en: "certificate file for HTTPS",
    "zh-CN": "HTTPS 的证书文件",
  },
  "tls-key": {
    en: "key file for HTTPS, readable by its owner only",
    "zh-CN": "HTTPS 的私钥文件，只有所有者可读",
  },
  "trust-proxy": {
    en: "take the client's address from X-Forwarded-For",
    "zh-CN": "从 X-Forwarded-For 取客户端地址",
  },
  weight: {
    en: "share of the command slots, beside the other masters'",
    "zh-CN": "与其他 master 相比分得命令槽位的份额",
  },
  "worker-token": {
    en: "file to write a join token for workers to, good for a day; none when empty",
    "zh-CN": "写入 worker 加入令牌的文件，有效期一天；为空则不写",
  },
};
